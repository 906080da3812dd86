// One document: its text in an editor, what is known of it beside, saving with care for what others saved meanwhile.
import { Failed, Loading, Empty } from "../../shell/states";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { load, prefixOf, type Loaded } from "../../api/documents";
import { ofCollection } from "../../api/queries";
import { Refused, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { DocumentEditor } from "./DocumentEditor";
import { templateOf } from "./template";

const route = getRouteApi("/databases/$database/document");

/** Documents whose fields a new one has. */
const TEMPLATE_COUNT = 10;

/** A document that was saved in the editor with this key, in which it was new. */
type Born = { database: string; id: string; key: string; isShown: boolean };

export function DocumentScreen() {
  const { database } = route.useParams();
  const { id, cloneOf, collection } = route.useSearch();
  const source = id ?? cloneOf;
  // A new document that was saved stays in its editor: one may have typed on. The address becomes its own meanwhile.
  const [born, setBorn] = useState<Born>();
  const [bornCount, setBornCount] = useState(0);
  const isBorn = born?.database === database && born.id === id;
  if (born && isBorn !== born.isShown) {
    setBorn(isBorn ? { ...born, isShown: true } : undefined);
    if (!isBorn) setBornCount(bornCount + 1);
  }
  const {
    data: read,
    error,
    refetch,
    isFetching,
  } = useQuery({
    queryKey: ["doc", database, source],
    queryFn: async ({ signal }) => (await load(database, source!, signal)) ?? null,
    enabled: source !== undefined && !isBorn,
    // What is being edited is not pulled away; saving finds out what others did.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  // A new document of a collection begins with the fields that others in it have.
  const wantsFields = source === undefined && collection !== undefined && !isBorn;
  const { data: others, isPending: isReadingOthers } = useQuery({
    queryKey: ["template", database, collection],
    queryFn: ({ signal }) => ofCollection(database, collection!, 0, TEMPLATE_COUNT, signal),
    enabled: wantsFields,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  // While the database is disabled nothing is asked and kept of it; what is being edited stays.
  const held = useRef<{ database: string; source: string | undefined; data: Loaded | null | undefined }>(undefined);
  if (read !== undefined) held.current = { database, source, data: read };
  const isHeld = held.current?.database === database && held.current.source === source;
  const data = read ?? (isHeld ? held.current?.data : undefined);
  const title = id ?? "New document";
  const refusal = useRefusal("ReadWrite");
  if (id === undefined && refusal !== undefined) {
    return (
      <Screen title={title} about={database}>
        <Refused reason={refusal} />
      </Screen>
    );
  }
  if (isBorn) {
    const readAnew = () => {
      setBorn(undefined);
      setBornCount(bornCount + 1);
    };
    return <DocumentEditor key={born.key} database={database} loaded={undefined} draft="" idDraft="" reload={readAnew} />;
  }
  const newKey = `new ${cloneOf === undefined ? collection : ` of ${cloneOf}`} ${bornCount}`;
  const onBorn = (savedId: string) => setBorn({ database, id: savedId, key: newKey, isShown: false });
  if (wantsFields && isReadingOthers)
    return (
      <Screen title={title} about={database}>
        <Loading what="the fields of the collection" />
      </Screen>
    );
  if (source === undefined)
    return (
      <DocumentEditor
        key={newKey}
        onBorn={onBorn}
        database={database}
        loaded={undefined}
        draft={templateOf(collection, others ?? [])}
        idDraft={collection === undefined ? "" : prefixOf(collection)}
      />
    );
  if (data === undefined || (isFetching && data === null)) {
    return (
      <Screen title={title} about={database}>
        {error ? (
          <Failed what="The document cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="the document" />
        )}
      </Screen>
    );
  }
  if (data === null) {
    return (
      <Screen title={title} about={database}>
        <Empty
          icon="documents"
          title={`There is no document '${source}'`}
          action={
            <Link to="/databases/$database/documents" params={{ database }}>
              Show all documents
            </Link>
          }
        >
          It may have been deleted, or it never existed.{" "}
          <Link to="/databases/$database/revisions" params={{ database }} search={{ id: source! }}>
            Show its revisions
          </Link>
        </Empty>
      </Screen>
    );
  }
  if (id === undefined)
    return (
      <DocumentEditor
        key={newKey}
        onBorn={onBorn}
        database={database}
        loaded={undefined}
        draft={data.text}
        idDraft={`${data.id.replace(/\/[^/]*$/, "")}/`}
      />
    );
  return (
    <DocumentEditor
      key={data.id}
      database={database}
      loaded={data}
      draft={data.text}
      idDraft={data.id}
      reload={() => void refetch()}
    />
  );
}
