// The changes of a database as they happen: documents, counters and indexes.
import { Autocomplete, Button, Checkbox, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useReducer, useState } from "react";
import { watch, type Change } from "../../api/changes";
import { collectionsQuery } from "../../api/documents";
import { count, counted, dateTime } from "../../format/format";
import { FilterField } from "../../shell/FilterField";
import { Screen } from "../../shell/Screen";
import { Empty } from "../../shell/states";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { after, EMPTY, filterOf, isShown, kindsOf, KINDS, LINE_COUNT_MAX, watchedBy, type Kind, type Line } from "./feed";
import styles from "./feed.module.css";

const route = getRouteApi("/databases/$database/feed");

/** How long changes are collected before they are drawn, in ms. */
const DRAW_MS = 150;

const LABELS: Record<Kind, string> = { documents: "Documents", counters: "Counters", indexes: "Indexes" };

type Connection = "connecting" | "standing" | "lost";

const CONNECTIONS: Record<Connection, { label: string; tone?: "good" | "warn" }> = {
  connecting: { label: "Connecting" },
  standing: { label: "Live", tone: "good" },
  lost: { label: "Not connected", tone: "warn" },
};

export function Feed() {
  const { database } = route.useParams();
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const [collection, setCollection] = useState(address.collection ?? "");
  const [prefix, setPrefix] = useState(address.prefix ?? "");
  const [kinds, setKinds] = useState(kindsOf(address.kinds));
  const [feed, step] = useReducer(after, EMPTY);
  const [connection, setConnection] = useState<Connection>("connecting");
  const { data: known } = useQuery(collectionsQuery(database));
  // What is typed is asked for once it is a name.
  const wanted = useMemo(() => filterOf(kinds, collection.trim(), prefix.trim()), [kinds, collection, prefix]);
  const [filter] = useDebouncedValue(wanted, 300);
  const watched = JSON.stringify(watchedBy(filter));
  useEffect(() => {
    let came: Change[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      step({ kind: "changes", changes: came, at: Date.now() });
      came = [];
    };
    let hasStood = false;
    const end = watch(database, JSON.parse(watched) as ReturnType<typeof watchedBy>, {
      changed: (changes) => {
        came.push(...changes);
        timer ??= setTimeout(draw, DRAW_MS);
      },
      standing: (isStanding) => {
        setConnection(isStanding ? "standing" : "lost");
        if (!isStanding && hasStood) step({ kind: "gap", at: Date.now() });
        hasStood = isStanding;
      },
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [database, watched]);
  useEffect(() => {
    const search = {
      ...(filter.kinds.length < KINDS.length && { kinds: filter.kinds.join(",") }),
      ...(filter.collection !== "" && { collection: filter.collection }),
      ...(filter.prefix !== "" && { prefix: filter.prefix }),
    };
    void navigate({ search, replace: true });
  }, [navigate, filter]);
  const lines = feed.lines.filter((line) => isShown(line, filter));
  const state = CONNECTIONS[connection];
  return (
    <Screen
      title="Live feed"
      about={
        <span role="status">
          <span className={tables.badge} data-tone={feed.isPaused ? "warn" : state.tone}>
            {feed.isPaused ? "Paused" : state.label}
          </span>
        </span>
      }
      actions={
        <>
          <Button variant="default" disabled={feed.lines.length === 0} onClick={() => step({ kind: "clear" })}>
            Clear
          </Button>
          <Button
            variant={feed.isPaused ? "filled" : "default"}
            leftSection={<Icon name={feed.isPaused ? "start" : "pause"} size={13} />}
            onClick={() => step({ kind: feed.isPaused ? "resume" : "pause" })}
          >
            {feed.isPaused ? `Resume${feed.waitingCount > 0 ? ` (${count(feed.waitingCount)} new)` : ""}` : "Pause"}
          </Button>
        </>
      }
    >
      <div className={styles.page}>
        <div className={styles.filter}>
          <div className={styles.kinds} role="group" aria-label="What is shown">
            {KINDS.map((kind) => {
              const isMoot = kind === "indexes" && (wanted.collection !== "" || wanted.prefix !== "");
              return (
                <Tooltip key={kind} label="Indexes have neither a collection nor an id" disabled={!isMoot}>
                  <div>
                    <Checkbox
                      label={LABELS[kind]}
                      checked={wanted.kinds.includes(kind)}
                      // One is always shown.
                      disabled={isMoot || (wanted.kinds.length === 1 && wanted.kinds.includes(kind))}
                      onChange={(event) => {
                        const isOn = event.currentTarget.checked;
                        setKinds(KINDS.filter((one) => (one === kind ? isOn : wanted.kinds.includes(one))));
                      }}
                    />
                  </div>
                </Tooltip>
              );
            })}
          </div>
          <Autocomplete
            className={styles.field!}
            aria-label="Collection"
            placeholder="All collections"
            data={known?.collections.map(({ name }) => name) ?? []}
            value={collection}
            onChange={setCollection}
            clearable
            spellCheck={false}
          />
          <FilterField
            className={styles.field}
            label="Ids that begin with"
            placeholder="Ids that begin with"
            value={prefix}
            onChange={setPrefix}
          />
          {lines.length > 0 && (
            <span className="soft number">
              {feed.lines.length === LINE_COUNT_MAX
                ? `of the last ${count(LINE_COUNT_MAX)} changes`
                : counted(lines.length, "change")}
            </span>
          )}
        </div>
        {lines.length === 0 ? (
          <Empty icon="feed" title={feed.lines.length === 0 ? "No changes yet" : "No change matches"}>
            {feed.lines.length === 0
              ? "Changes are listed here when they happen, as long as this screen is open. Those before it was opened are not."
              : "The filter leaves out all changes that came so far."}
          </Empty>
        ) : (
          <div className={styles.list}>
            <table className={tables.table} role="table" aria-label="Changes, the newest first">
              <thead role="rowgroup">
                <tr role="row">
                  {["Time", "Change", "Document or index", "Collection", "Counter"].map((title) => (
                    <th key={title} scope="col" role="columnheader">
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody role="rowgroup">
                {lines.map((line) => (
                  <Row key={line.key} database={database} line={line} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Screen>
  );
}

function Row({ database, line }: { database: string; line: Line }) {
  const time = dateTime(new Date(line.at).toISOString()).slice(11);
  if (line.kind === "gap") {
    return (
      <tr role="row">
        <td role="cell" className="number">
          {time}
        </td>
        <td role="cell" colSpan={4} className={styles.gap}>
          <Icon name="warning" size={14} /> The connection was lost. Changes until it stood again are missing here.
        </td>
      </tr>
    );
  }
  const { what, tone, name, isThere, collection, detail } = line;
  return (
    <tr role="row">
      <td role="cell" className="number">
        {time}
      </td>
      <td role="cell">
        <span className={tables.badge} data-tone={tone}>
          {what}
        </span>
      </td>
      <th scope="row" role="rowheader" className={tables.name}>
        {!isThere ? (
          <span className={styles.gone}>{name}</span>
        ) : line.kind === "indexes" ? (
          <Link to="/databases/$database/index" params={{ database }} search={{ name }}>
            {name}
          </Link>
        ) : (
          <Link to="/databases/$database/document" params={{ database }} search={{ id: name }}>
            {name}
          </Link>
        )}
      </th>
      <td role="cell">{collection}</td>
      <td role="cell" className="number">
        {detail}
      </td>
    </tr>
  );
}
