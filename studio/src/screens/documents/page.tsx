// The documents of a database: collections at the side, and a grid over all documents or those of a collection.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { collectionsQuery } from "../../api/documents";
import { counted } from "../../format/format";
import { changed } from "../../shell/changed";
import { Running, type RunningOperation } from "../../shell/Running";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { Collections, toDocuments } from "./Collections";
import { DocumentGrid } from "./DocumentGrid";
import { NoDocuments } from "./NoDocuments";
import styles from "./documents.module.css";

const route = getRouteApi("/databases/$database/documents");

export function Documents() {
  const { database } = route.useParams();
  const { collection, tab } = route.useSearch();
  const shownTab = tab === "fields" ? tab : undefined;
  const { data, error, refetch } = useQuery({
    ...collectionsQuery(database),
    refetchInterval: 3000,
  });
  // Here, because a collection is gone when its last document is, and what tells of it must not.
  const [running, setRunning] = useState<RunningOperation>();
  const chosen = data?.collections.find((found) => found.name.toLowerCase() === collection?.toLowerCase());
  if (!data) {
    return (
      <Screen title="Documents" about={database}>
        {error ? (
          <Failed what={`The documents of '${database}' cannot be read`} error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="collections" />
        )}
      </Screen>
    );
  }
  if (data.total === 0 && !running) return <NoDocuments database={database} />;
  return (
    <div className={styles.split}>
      <Collections database={database} total={data.total} collections={data.collections} chosen={collection} tab={shownTab} />
      {collection !== undefined && !chosen ? (
        <Screen title={collection} about={counted(0, "document")}>
          <Empty
            icon="documents"
            title={`No documents in '${collection}'`}
            action={<Link {...toDocuments(database)}>Show all documents</Link>}
          >
            A collection exists as long as it has documents.
          </Empty>
        </Screen>
      ) : (
        <DocumentGrid
          key={`${database}/${collection ?? ""}`}
          database={database}
          collection={chosen?.name}
          isOfFields={chosen !== undefined && shownTab === "fields"}
          rowCount={chosen?.count ?? data.total}
          size={chosen?.size ?? data.collections.reduce((sum, found) => sum + found.size, 0)}
          setRunning={setRunning}
        />
      )}
      <Running operation={running} ended={() => void changed("documents")} close={() => setRunning(undefined)} />
    </div>
  );
}
