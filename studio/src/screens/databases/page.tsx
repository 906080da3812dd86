// All databases: how they do, creating, deleting, switching on and off.
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { names, open, remove, setEnabled } from "../../api/databases";
import { serverOf, type LiveDatabase } from "../../api/node";
import { count, counted, rate, size, uptime } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { FilterField } from "../../shell/FilterField";
import { lastEtag, ofDatabase, rates, requestsOf, useLive } from "../../shell/live";
import { forget } from "../../shell/remembered";
import { Needs, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { useAbilities } from "../../shell/session";
import { Spark } from "../../shell/Spark";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { Create } from "./Create";
import { exportDatabase, type ExportFormat } from "./export";
import type { Importing } from "./Import";
import styles from "./databases.module.css";

// What reads files is not needed for the first look.
const Import = lazy(() => import("./Import"));
const ExportDump = lazy(() => import("./ExportDump"));
const ImportDump = lazy(() => import("./ImportDump"));

/** A dump whose options are asked for. */
type Choosing = { what: "export" | "import"; database: string };

/** From so many on, a field to filter them is shown. */
const FILTER_FROM_COUNT = 7;

export function Databases() {
  const { data, error, refetch } = useQuery({
    queryKey: ["databases"],
    queryFn: ({ signal }) => names(signal),
    refetchInterval: 5000,
  });
  const { data: live, isError: isLost } = useLive();
  const { isOperator } = useAbilities();
  const [isCreating, creating] = useDisclosure(false);
  const [question, ask] = useState<Question>();
  const [importing, setImporting] = useState<Importing>();
  const [choosing, setChoosing] = useState<Choosing>();
  const [filter, setFilter] = useState("");

  // A file that misses a card is not opened by the browser, which would leave the studio.
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    };
    const onDrop = (event: DragEvent) => event.preventDefault();
    addEventListener("dragover", onDrag);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onDrag);
      removeEventListener("drop", onDrop);
    };
  }, []);
  const shown = data?.filter((name) => name.toLowerCase().includes(filter.trim().toLowerCase()));
  const latest = live?.latest;
  const node = serverOf(latest);
  return (
    <Screen
      title="Databases"
      about={
        latest && (
          <span className="number">
            {[
              `up ${uptime(latest.UptimeInMs)}`,
              ...(node ? [`${size(node.ResidentInBytes)} of memory`, counted(node.Connections, "connection")] : []),
            ].join(" · ")}
          </span>
        )
      }
      actions={
        <>
          {data && data.length >= FILTER_FROM_COUNT && (
            <FilterField label="Filter databases by name" placeholder="Filter by name" value={filter} onChange={setFilter} />
          )}
          {isOperator && (
            <>
              <Button variant="default" renderRoot={(props: object) => <Link {...props} to="/restore" search={{}} />}>
                Restore a backup
              </Button>
              <Button leftSection={<Icon name="plus" size={14} />} onClick={creating.open}>
                New database
              </Button>
            </>
          )}
        </>
      }
    >
      {data === undefined ? (
        error ? (
          <Failed what="The databases could not be listed" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="databases" />
        )
      ) : data.length === 0 && !isOperator ? (
        <Empty icon="database" title="No databases">
          You have no rights on a database of this server. An operator of the server can grant them to you.
        </Empty>
      ) : data.length === 0 ? (
        <Empty
          icon="database"
          title="No databases yet"
          action={
            <Button leftSection={<Icon name="plus" size={14} />} onClick={creating.open}>
              Create the first one
            </Button>
          }
        >
          Create one, empty or with the Northwind sample of orders, products and customers.
        </Empty>
      ) : (
        <ul className={styles.cards}>
          {shown?.map((name) => (
            <Card
              key={name}
              name={name}
              counters={ofDatabase(latest, name)}
              writes={rates(live?.samples ?? [], lastEtag(name))}
              isLost={isLost}
              isOperator={isOperator}
              requestRates={rates(live?.samples ?? [], requestsOf(name))}
              ask={ask}
              give={(format) => exportDatabase(name, format)}
              take={(files) => setImporting({ database: name, files })}
              choose={(what) => setChoosing({ what, database: name })}
            />
          ))}
          {shown?.length === 0 && <li className={styles.none}>No database has “{filter}” in its name.</li>}
        </ul>
      )}
      <Create isOpen={isCreating} close={creating.close} />
      <Suspense>{importing && <Import importing={importing} close={() => setImporting(undefined)} />}</Suspense>
      <Suspense>
        {choosing?.what === "export" && <ExportDump database={choosing.database} close={() => setChoosing(undefined)} />}
        {choosing?.what === "import" && <ImportDump database={choosing.database} close={() => setChoosing(undefined)} />}
      </Suspense>
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

function Card({
  name,
  counters,
  writes,
  requestRates,
  isLost,
  isOperator,
  ask,
  give,
  take,
  choose,
}: {
  name: string;
  counters: LiveDatabase | undefined;
  writes: number[];
  requestRates: number[];
  /** The server does not answer: no rate is that of now. */
  isLost: boolean;
  /** The user may enable, disable and delete it. */
  isOperator: boolean;
  ask: (question: Question) => void;
  /** Exports it. */
  give: (format: ExportFormat) => void;
  /** Files to import. */
  take: (files: readonly File[]) => void;
  /** Asks for the options of a dump. */
  choose: (what: Choosing["what"]) => void;
}) {
  const chooser = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const refresh = () => changed("databases");
  const opening = useMutation({
    mutationFn: () => open(name),
    onSuccess: refresh,
    onError: (error) => failed(`'${name}' could not be opened`, error),
  });
  const switching = useMutation({
    mutationFn: (isEnabled: boolean) => setEnabled(name, isEnabled),
    onSuccess: (_, isEnabled) => (told(`'${name}' is ${isEnabled ? "enabled" : "disabled"}`), refresh()),
    onError: (error) => failed(`'${name}' could not be changed`, error),
  });
  const askToDelete = () =>
    ask({
      title: `Delete '${name}'?`,
      text: "All of its documents and indexes are deleted, and its files with them. This cannot be undone.",
      action: "Delete database",
      typed: name,
      typedWhat: "the name of the database",
      run: () =>
        remove(name).then(
          () => (forget(name), told(`'${name}' was deleted`), refresh()),
          (error: unknown) => failed(`'${name}' was not deleted`, error),
        ),
    });
  const askToDisable = () =>
    ask({
      title: `Disable '${name}'?`,
      text: "Requests of all clients to it fail until it is enabled again. Nothing is deleted.",
      action: "Disable",
      run: () =>
        switching.mutateAsync(false).then(
          () => undefined,
          () => undefined,
        ),
    });
  const isDisabled = counters?.State === "Disabled";
  const takesFiles = useRefusal("ReadWrite", name) === undefined && !isDisabled;
  const isOpen = counters?.State === "Open";
  return (
    <li
      className={styles.card}
      data-state={counters?.State}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!takesFiles || !event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const files = [...event.dataTransfer.files];
        if (files.length > 0 && takesFiles) take(files);
      }}
    >
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        accept=".jsonl,.ndjson,.json,.csv,.tsv,.ravendbdump,.gz,.zst"
        aria-label={`Files to import into ${name}`}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          if (files.length > 0) take(files);
        }}
      />
      <div className={styles.cardHead}>
        <h2 className={`${styles.name} cut`}>
          {isDisabled ? (
            name
          ) : (
            <Link to="/databases/$database/documents" params={{ database: name }}>
              {name}
            </Link>
          )}
        </h2>
        {isOpen && counters.IsInMemory && <span className={styles.tag}>in memory</span>}
        {isDisabled && <span className={styles.tag}>disabled</span>}
        {(isOperator || !isDisabled) && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={`Actions for ${name}`} style={{ marginLeft: "auto" }}>
                <Icon name="dots" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {isDisabled && isOperator && (
                <Menu.Item leftSection={<Icon name="power" size={14} />} onClick={() => switching.mutate(true)}>
                  Enable
                </Menu.Item>
              )}
              {!isDisabled && (
                <>
                  <Menu.Item leftSection={<Icon name="download" size={14} />} onClick={() => give("dump")}>
                    Export
                  </Menu.Item>
                  <Menu.Item leftSection={<Icon name="download" size={14} />} onClick={() => choose("export")}>
                    Export with options…
                  </Menu.Item>
                  <Menu.Item leftSection={<Icon name="download" size={14} />} onClick={() => give("lines")}>
                    Export as JSON lines
                  </Menu.Item>
                  <Needs right="ReadWrite" database={name}>
                    <Menu.Item leftSection={<Icon name="upload" size={14} />} onClick={() => chooser.current?.click()}>
                      Import files…
                    </Menu.Item>
                    <Menu.Item leftSection={<Icon name="upload" size={14} />} onClick={() => choose("import")}>
                      Import a dump with options…
                    </Menu.Item>
                  </Needs>
                  {isOperator && (
                    <Menu.Item leftSection={<Icon name="power" size={14} />} onClick={askToDisable}>
                      Disable…
                    </Menu.Item>
                  )}
                </>
              )}
              {isOperator && (
                <>
                  <Menu.Divider />
                  <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={askToDelete}>
                    Delete…
                  </Menu.Item>
                </>
              )}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
      {isOpen ? (
        <>
          <dl className={styles.numbers}>
            <Figure label="Documents" value={count(counters.Documents)} />
            <Figure label="Size" value={counters.IsInMemory ? "–" : size(counters.SizeInBytes)} />
            <Figure label="Indexes" value={count(counters.Indexes)} note={indexNote(counters)} />
          </dl>
          <div className={styles.rates}>
            <Rate what="Writes" name={name} values={writes} isLost={isLost} />
            <Rate what="Requests" name={name} values={requestRates} isLost={isLost} />
          </div>
        </>
      ) : (
        <div className={styles.resting}>
          {counters === undefined ? (
            <p>{isLost ? "Its state cannot be read: the server does not answer." : "Reading its state…"}</p>
          ) : isDisabled ? (
            <>
              <p>It answers no requests until it is enabled.</p>
              {isOperator && (
                <Button variant="default" onClick={() => switching.mutate(true)} loading={switching.isPending}>
                  Enable
                </Button>
              )}
            </>
          ) : (
            <>
              <p>Not loaded yet. It is loaded when it is first used.</p>
              <Button variant="default" onClick={() => opening.mutate()} loading={opening.isPending}>
                Load
              </Button>
            </>
          )}
        </div>
      )}
    </li>
  );
}

function Rate({ what, name, values, isLost }: { what: string; name: string; values: number[]; isLost: boolean }) {
  const now = values.at(-1);
  const last = isLost || now === undefined ? "–" : rate(now);
  return (
    <div>
      <span className={styles.rateLabel}>
        {what}/s <b className="number">{last}</b>
      </span>
      <Spark values={values} label={`${what} per second of ${name} in the last two minutes, now ${last}`} />
    </div>
  );
}

/** The worst first. */
function indexNote(counters: LiveDatabase & { State: "Open" }): Note | undefined {
  const { FailedIndexes: failed, IndexErrors: errors, StaleIndexes: stale } = counters;
  const notes = [];
  if (failed > 0) notes.push(`${count(failed)} failed`);
  if (errors > 0) notes.push(counted(errors, "error"));
  if (stale > 0) notes.push(`${count(stale)} stale`);
  return notes.length > 0 ? { lines: notes, isBad: failed > 0 } : undefined;
}

type Note = { lines: string[]; isBad: boolean };

function Figure({ label, value, note }: { label: string; value: string; note?: Note | undefined }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="number">
        {value}
        {note && (
          <span className={styles.note} data-bad={note.isBad || undefined}>
            {note.lines.map((line) => (
              <span key={line}>{line}</span>
            ))}
          </span>
        )}
      </dd>
    </div>
  );
}
