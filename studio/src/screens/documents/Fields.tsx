// The fields of a collection, told from a sample of its documents: types, how many have them, and what values there are.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { count, counted, size } from "../../format/format";
import { FilterField } from "../../shell/FilterField";
import { Failed, Loading } from "../../shell/states";
import tables from "../../shell/table.module.css";
import { pathForPeople } from "../query/names";
import { FieldRow } from "./FieldRow";
import { FIELD_COUNT_MAX, ITEM_COUNT_MAX, VALUE_COUNT_MAX } from "./fields";
import { DOCUMENT_COUNT_MAX, SAMPLE_SIZE, sampleFields, type Sample } from "./fieldSample";
import styles from "./fields.module.css";

/** A sample is kept so long, in ms: *Reload* reads another. */
const KEPT_MS = 300_000;
const FILTER_FROM_COUNT = 8;

type Props = {
  database: string;
  collection: string;
  documentCount: number;
  /** Bytes of all documents. */
  size: number;
};

export function Fields({ database, collection, documentCount, size: bytes }: Props) {
  const [readCount, setReadCount] = useState(0);
  const [filter, setFilter] = useState("");
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["fields", database, collection],
    queryFn: ({ signal }) => {
      setReadCount(0);
      return sampleFields(database, collection, documentCount, bytes, setReadCount, signal);
    },
    staleTime: KEPT_MS,
    refetchOnWindowFocus: false,
  });
  if (isFetching || (data === undefined && !error)) {
    const wanted = Math.min(documentCount, DOCUMENT_COUNT_MAX);
    return <Loading what={readCount === 0 ? "documents" : `documents, ${count(readCount)} of up to ${count(wanted)}`} />;
  }
  if (data === undefined) return <Failed what="The documents cannot be read" error={error} retry={() => void refetch()} />;
  const wanted = filter.trim().toLowerCase();
  const shown = data.fields.filter(({ path }) => pathForPeople(path).toLowerCase().includes(wanted));
  return (
    <div className={tables.scroll}>
      <div className={styles.about}>
        <p role="status">{aboutSample(data)}</p>
        {data.fields.length >= FILTER_FROM_COUNT && (
          <FilterField
            label="Filter fields by name"
            placeholder="Filter by name"
            value={filter}
            onChange={setFilter}
            className={styles.filter}
          />
        )}
      </div>
      <table className={`${tables.table} ${styles.table}`} role="table" aria-label={`Fields of ${collection}`}>
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              Field
            </th>
            <th scope="col" role="columnheader">
              Documents
            </th>
            <th scope="col" role="columnheader">
              Values
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((field) => (
            <FieldRow
              key={JSON.stringify(field.path)}
              database={database}
              collection={collection}
              field={field}
              documentCount={data.documentCount}
            />
          ))}
        </tbody>
      </table>
      {shown.length === 0 && (
        <p className={styles.none}>
          {wanted === "" ? "The documents have no fields." : `No field has '${filter.trim()}' in its name.`}
        </p>
      )}
    </div>
  );
}

/** What was read, and what was left out. */
function aboutSample({ documentCount, totalCount, placeCount, partCount, hasMore }: Sample): string {
  const bounds = `at most ${count(DOCUMENT_COUNT_MAX)} documents or about ${size(SAMPLE_SIZE)}`;
  const read =
    documentCount >= totalCount
      ? `All ${counted(documentCount, "document")} were read.`
      : `${count(documentCount)} of ${counted(totalCount, "document")} were read, from ${counted(placeCount, "place")} spread over the collection (${bounds}). Counts are of these.`;
  const parts =
    partCount === 0
      ? ""
      : ` ${counted(partCount, "document")} in part: ${count(ITEM_COUNT_MAX)} items of an array, ${count(VALUE_COUNT_MAX)} values of a document.`;
  return `${read}${parts}${hasMore ? ` Only the first ${count(FIELD_COUNT_MAX)} fields are shown.` : ""}`;
}
