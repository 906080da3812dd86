// How values of documents become results: document, what the map gives of it, the parts of its group, the result.
import { Button, TagsInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { existing } from "../../api/documents";
import * as api from "../../api/indexes";
import { cell, count, counted } from "../../format/format";
import { digitsOf } from "../../json/exact";
import { Empty, Failed, Loading } from "../../shell/states";
import { shownOf, type Entry, type Others, type Part, type Shown, type ShownGroup } from "./groups";
import { Lines } from "./Lines";
import styles from "./groups.module.css";

/** Documents that are shown at once. */
const CHOSEN_COUNT_MAX = 8;
/** Ids that are offered while one types. */
const OFFERED_COUNT = 20;
/** Documents that are offered before any was chosen. */
const SUGGESTED_COUNT = 5;
/** What is listed of the values and parts that are reduced together with those that are shown. */
const LISTED_COUNT_MAX = 64;
/** Values that are drawn of one document, and groups. */
const ENTRIES_COUNT_MAX = 40;
const GROUPS_COUNT_MAX = 40;
/** How often one looks again, in ms. */
const POLL_MS = 5000;

export function MapReduce({ database, name, documents }: { database: string; name: string; documents: readonly string[] }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [prefix] = useDebouncedValue(typed.trim(), 150);
  const offered = useQuery({
    queryKey: ["source-ids", database, name, prefix],
    queryFn: async ({ signal }) => spelled(database, await api.sourceIds(database, name, prefix, OFFERED_COUNT, signal), signal),
    placeholderData: keepPreviousData,
  });
  // An address may have ids as somebody typed them.
  const { data: names } = useQuery({
    queryKey: ["spelled", database, documents],
    queryFn: ({ signal }) => spelled(database, documents, signal),
    enabled: documents.length > 0,
  });
  const shown = names ?? documents;
  const { data, error, refetch } = useQuery({
    queryKey: ["groups", database, name, documents],
    queryFn: ({ signal }) => api.groups(database, name, documents, signal),
    enabled: documents.length > 0,
    placeholderData: (before) => (documents.length > 0 ? before : undefined),
    refetchInterval: POLL_MS,
  });
  const choose = (chosen: readonly string[]) =>
    void navigate({
      to: "/databases/$database/index",
      params: { database },
      search: { name, tab: "map-reduce", ...(chosen.length > 0 && { docs: chosen.join("\n") }) },
      replace: true,
    });
  return (
    <div className={styles.screen}>
      <TagsInput
        label="Documents"
        description={`Up to ${CHOSEN_COUNT_MAX}, by the beginning of their ids`}
        placeholder={documents.length === 0 ? "orders/1-A" : ""}
        data={offered.data ?? []}
        value={[...shown]}
        onChange={(chosen) => choose(distinct(chosen))}
        searchValue={typed}
        onSearchChange={setTyped}
        maxTags={CHOSEN_COUNT_MAX}
        // The server has looked for the beginning.
        filter={({ options }) => options}
        isDuplicate={(value, chosen) => chosen.some((id) => id.toLowerCase() === value.toLowerCase())}
        clearable
        clearButtonProps={{ "aria-label": "Choose no document" }}
        spellCheck={false}
        maw={720}
      />
      {documents.length === 0 ? (
        offered.error ? (
          <Failed what="The documents cannot be read" error={offered.error} retry={() => void offered.refetch()} />
        ) : offered.data === undefined ? (
          <Loading what="documents" />
        ) : prefix === "" && offered.data.length === 0 ? (
          <Empty icon="index" title="No groups yet">
            No document has given this index a value.
          </Empty>
        ) : (
          <Empty
            icon="index"
            title="How do documents become results?"
            action={
              <div className={styles.suggested}>
                {offered.data.slice(0, SUGGESTED_COUNT).map((id) => (
                  <Button key={id} variant="default" onClick={() => choose([id])}>
                    {id}
                  </Button>
                ))}
              </div>
            }
          >
            Choose documents to see what the map makes of them, and what that is reduced to.
          </Empty>
        )
      ) : error && !data ? (
        <Failed what="The groups cannot be read" error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="groups" />
      ) : (
        <Drawing database={database} groups={data} documents={shown} />
      )}
    </div>
  );
}

/** Ids in the order given, each once, whatever the case. */
export function distinct(ids: readonly string[]): string[] {
  const known = new Set<string>();
  return ids.filter((id) => {
    const key = id.trim().toLowerCase();
    return key !== "" && !known.has(key) && (known.add(key), true);
  });
}

/** Ids as their documents have them: the index knows them in lower case. Those of documents that are gone stay as they are. */
async function spelled(database: string, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  const found = new Map((await existing(database, ids, signal)).map(({ id }) => [id.toLowerCase(), id]));
  return ids.map((id) => found.get(id.toLowerCase()) ?? id);
}

function Drawing({ database, groups, documents }: { database: string; groups: api.Groups; documents: readonly string[] }) {
  const shown: Shown = useMemo(() => shownOf(groups.Results.slice(0, GROUPS_COUNT_MAX), documents), [groups.Results, documents]);
  const frame = useRef<HTMLDivElement>(null);
  const links = shown.sources.flatMap(({ id, entries }) =>
    entries.slice(0, ENTRIES_COUNT_MAX).flatMap((entry) => [
      { from: `document:${id}`, to: entry.id },
      { from: entry.id, to: entry.into },
    ]),
  );
  const ways = shown.groups.flatMap((group) => group.levels.flat().map((part) => ({ from: part.id, to: part.into })));
  const missing = groups.NumberOfGroups - shown.groups.length;
  return (
    <>
      {missing > 0 && <p className={styles.note}>{counted(missing, "further group")} of these documents not shown.</p>}
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="From documents to results">
        <div className={styles.frame} ref={frame}>
          <Lines frame={frame} links={[...links, ...ways]} />
          <section className={styles.side} aria-labelledby="map-reduce-sources">
            <h2 id="map-reduce-sources">
              Documents <span className="soft">and what the map gives</span>
            </h2>
            <ul className={styles.list}>
              {shown.sources.map(({ id, entries }) => (
                <li key={id} className={styles.source}>
                  <div className={styles.document} data-node={`document:${id}`}>
                    <Link to="/databases/$database/document" params={{ database }} search={{ id }}>
                      {id}
                    </Link>
                    {entries.length === 0 && <span className="soft">gives no value</span>}
                  </div>
                  <ul className={styles.list}>
                    {entries.slice(0, ENTRIES_COUNT_MAX).map((entry) => (
                      <Value key={entry.id} entry={entry} group={shown.groups[entry.group]!} />
                    ))}
                    {entries.length > ENTRIES_COUNT_MAX && (
                      <li className="soft">and {counted(entries.length - ENTRIES_COUNT_MAX, "further value")}</li>
                    )}
                  </ul>
                </li>
              ))}
            </ul>
          </section>
          <section className={styles.groups} aria-labelledby="map-reduce-groups">
            <h2 id="map-reduce-groups">
              Groups <span className="soft">and what the reduce makes of them</span>
            </h2>
            <ul className={styles.list}>
              {shown.groups.map((group) => (
                <Group key={group.id} group={group} />
              ))}
            </ul>
          </section>
        </div>
      </div>
    </>
  );
}

function Value({ entry, group }: { entry: Entry; group: ShownGroup }) {
  return (
    <li className={styles.value} data-node={entry.id}>
      <Fields row={entry.value} />
      <span className={styles.into}>in the group {group.key}</span>
    </li>
  );
}

function Group({ group }: { group: ShownGroup }) {
  return (
    <li className={styles.group} aria-label={`Group ${group.key}`}>
      {group.levels.length > 0 && (
        <ol className={styles.levels}>
          {group.levels.map((parts, at) => (
            <li key={at}>
              <ul className={styles.list} aria-label={`Parts of level ${at + 1}`}>
                {parts.map((part) => (
                  <PartBox key={part.id} part={part} />
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
      <div className={styles.result} data-node={group.id} data-bad={group.hasFailed || undefined}>
        <h3 title={`Group ${group.name}`}>{group.key}</h3>
        <Results results={group.results} hasFailed={group.hasFailed} none="No result" />
        <span className="soft number">
          of {group.isWhole ? "" : "up to "}
          {counted(group.count, "value")}
          {group.levels.length > 0 && `, in ${counted(group.levels.length + 1, "step")}`}
        </span>
        <Beside others={group.others} />
      </div>
    </li>
  );
}

function PartBox({ part }: { part: Part }) {
  return (
    <li className={styles.part} data-node={part.id} data-bad={part.hasFailed || undefined}>
      <h4 className="number">
        Values {count(part.first + 1)} to {count(part.last + 1)}
      </h4>
      <Results results={part.results} hasFailed={part.hasFailed} none="Reduced together with all others" />
      <Beside others={part.others} />
    </li>
  );
}

function Results({ results, hasFailed, none }: { results: readonly api.Row[]; hasFailed: boolean; none: string }) {
  if (hasFailed) return <span className={styles.failed}>Could not be reduced</span>;
  if (results.length === 0) return <span className="soft">{none}</span>;
  return results.map((row, at) => <Fields key={at} row={row} />);
}

/** What is reduced together with what is drawn. */
function Beside({ others: { values, parts } }: { others: Others }) {
  const total = values.length + parts.length;
  if (total === 0) return null;
  const what =
    values.length > 0
      ? counted(values.length, "value of other documents", "values of other documents")
      : counted(parts.length, "other part");
  return (
    <details className={styles.beside}>
      <summary>with {what}</summary>
      <ul tabIndex={0} aria-label={what}>
        {values.slice(0, LISTED_COUNT_MAX).map((row, at) => (
          <li key={at}>{inLine(row)}</li>
        ))}
        {parts.slice(0, LISTED_COUNT_MAX).map((part) => (
          <li key={part.first}>
            <span className="soft number">
              {count(part.first + 1)} to {count(part.last + 1)}:
            </span>{" "}
            {part.results.map(inLine).join("; ") || "no result"}
          </li>
        ))}
        {total > LISTED_COUNT_MAX && <li className="soft">and {count(total - LISTED_COUNT_MAX)} more</li>}
      </ul>
    </details>
  );
}

function inLine(row: api.Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} ${digitsOf(row, name) ?? cell(value)}`)
    .join(", ");
}

function Fields({ row }: { row: api.Row }) {
  return (
    <dl className={styles.fields}>
      {Object.entries(row).map(([name, value]) => {
        const text = digitsOf(row, name) ?? cell(value);
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={text}>{text.slice(0, 200)}</dd>
          </div>
        );
      })}
    </dl>
  );
}
