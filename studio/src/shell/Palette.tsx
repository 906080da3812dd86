// The command palette: jump to a screen, database, collection, index or document by typing a part of its name.
import { Modal } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { names } from "../api/databases";
import { collectionsQuery, idsByPrefix, idsWith } from "../api/documents";
import { definitions } from "../api/indexes";
import { withoutReplacements } from "../screens/indexes/state";
import { count } from "../format/format";
import { Icon, type IconName } from "../theme/icons";
import { lastDatabase } from "./lastDatabase";
import { FURTHER_SCREENS, SCREENS } from "./places";
import { MAY_SIGN_IN, useAbilities } from "./session";
import styles from "./palette.module.css";

const ALL_SCREENS = [...SCREENS, ...FURTHER_SCREENS];

type Entry = { key: string; icon: IconName; label: string; note: string; go: () => void };

/** Documents that are offered. */
const ID_COUNT = 8;
/** Characters from which on they are looked for inside of ids. */
const PART_LENGTH_MIN = 3;
/** Entries of one kind that are shown. */
const KIND_COUNT = 12;

export function Palette({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      centered={false}
      transitionProps={{ duration: 0 }}
      attributes={{ content: { "aria-label": "Jump to" } }}
    >
      {isOpen && <Body close={close} />}
    </Modal>
  );
}

function Body({ close }: { close: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const { entries, needsDatabase } = useEntries(typed.trim());
  const chosen = Math.min(at, entries.length - 1);

  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    entry.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
    // Home and End are for what is typed.
    const next = steps[event.key];
    if (event.key === "Enter") {
      event.preventDefault();
      go(entries[chosen]);
    } else if (next !== undefined && entries.length > 0) {
      event.preventDefault();
      const place = (next + entries.length) % entries.length;
      setAt(place);
      box.current?.querySelector(`[data-at="${place}"]`)?.scrollIntoView({ block: "nearest" });
    }
  };
  return (
    <div className={styles.palette}>
      <div className={styles.field}>
        <Icon name="search" size={18} />
        <input
          data-autofocus
          // At once: what is typed right behind the shortcut is meant for it.
          ref={focused}
          className={styles.input}
          placeholder="Screen, database, collection, index, or document id"
          aria-label="Jump to"
          role="combobox"
          aria-expanded={entries.length > 0}
          aria-controls={list}
          aria-activedescendant={entries.length > 0 ? `${list}-${chosen}` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd className={styles.key}>Esc</kbd>
      </div>
      <div className={styles.list} ref={box} role="listbox" id={list} aria-label="Places">
        {entries.map((entry, index) => (
          <div
            key={entry.key}
            id={`${list}-${index}`}
            data-at={index}
            role="option"
            aria-selected={index === chosen}
            className={index === chosen ? `${styles.entry} ${styles.chosen}` : styles.entry}
            onMouseMove={() => setAt(index)}
            onClick={() => go(entry)}
          >
            <Icon name={entry.icon} />
            <span className="cut">{entry.label}</span>
            <span className={styles.note}>{entry.note}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && !needsDatabase && <p className={styles.none}>Nothing matches.</p>}
      {needsDatabase && (
        <p className={styles.none}>
          {entries.length === 0 ? "Nothing matches. " : ""}No database is open yet: choose one first to find its documents,
          collections and indexes.
        </p>
      )}
    </div>
  );
}

function focused(field: HTMLInputElement | null) {
  field?.focus();
}

/** The screens for who operates the server. */
function serverEntries(navigate: ReturnType<typeof useNavigate>): Entry[] {
  return [
    { key: "server", icon: "server", label: "Server: log", note: "Server", go: () => void navigate({ to: "/server" }) },
    {
      key: "slow",
      icon: "server",
      label: "Server: slow requests",
      note: "Server",
      go: () => void navigate({ to: "/server", search: { tab: "slow" } }),
    },
    {
      key: "settings",
      icon: "server",
      label: "Server: settings",
      note: "Server",
      go: () => void navigate({ to: "/server", search: { tab: "settings" } }),
    },
    { key: "safety", icon: "shield", label: "Safety", note: "Server", go: () => void navigate({ to: "/safety" }) },
    ...(MAY_SIGN_IN
      ? [
          {
            key: "access",
            icon: "lock" as const,
            label: "Access: API keys and certificates",
            note: "Server",
            go: () => void navigate({ to: "/access" }),
          },
        ]
      : []),
  ];
}

/** `needsDatabase`: what is typed may be in a database, and none is chosen. */
function useEntries(typed: string): { entries: Entry[]; needsDatabase: boolean } {
  const navigate = useNavigate();
  const { isOperator } = useAbilities();
  const { database: current } = useParams({ strict: false }) as { database?: string };
  const database = current ?? lastDatabase.get();
  const { data: databaseNames } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  const isThere = database !== undefined && (databaseNames?.includes(database) ?? current !== undefined);
  const { data: found } = useQuery({
    ...collectionsQuery(database ?? ""),
    enabled: isThere,
  });
  const { data: indexes } = useQuery({
    queryKey: ["definitions", database],
    queryFn: ({ signal }) => definitions(database!, signal),
    enabled: isThere,
  });
  const [prefix] = useDebouncedValue(typed, 120);
  const { data: ids } = useQuery({
    queryKey: ["ids", database, prefix],
    queryFn: ({ signal }) => idsByPrefix(database!, prefix, ID_COUNT, signal),
    enabled: isThere && prefix.length >= 2,
    placeholderData: keepPreviousData,
  });

  // Only where none begins so: it takes the server as long as the database is large.
  const [part] = useDebouncedValue(typed, 400);
  const isPrefix = ids === undefined || ids.some((id) => id.toLowerCase().startsWith(part.toLowerCase()));
  const { data: idsInside } = useQuery({
    queryKey: ["ids-with", database, part],
    queryFn: ({ signal }) => idsWith(database!, part, ID_COUNT, signal),
    enabled: isThere && part === prefix && part.length >= PART_LENGTH_MIN && !isPrefix,
  });

  const entries = useMemo(() => {
    const wanted = typed.toLowerCase();
    const entries: Entry[] = [];
    const add = (some: Entry[]) =>
      entries.push(...some.filter((entry) => entry.label.toLowerCase().includes(wanted)).slice(0, KIND_COUNT));
    if (isThere) {
      add(
        ALL_SCREENS.map((screen) => ({
          key: `screen ${screen.to}`,
          icon: screen.icon,
          label: screen.label,
          note: database,
          go: () => void navigate({ to: screen.to, params: { database }, search: {} }),
        })),
      );
    } else if (current === undefined) {
      // No database is chosen yet: a screen of each, the first ones first.
      for (const screen of ALL_SCREENS) {
        add(
          (databaseNames ?? []).map((name) => ({
            key: `screen ${screen.to} ${name}`,
            icon: screen.icon,
            label: screen.label,
            note: name,
            go: () => void navigate({ to: screen.to, params: { database: name }, search: {} }),
          })),
        );
      }
    }
    add([
      { key: "databases", icon: "database", label: "Databases", note: "Server", go: () => void navigate({ to: "/databases" }) },
      ...(isOperator ? serverEntries(navigate) : []),
      { key: "about", icon: "start", label: "Get started", note: "Server", go: () => void navigate({ to: "/about" }) },
      { key: "help", icon: "help", label: "Help", note: "Server", go: () => void navigate({ to: "/help" }) },
    ]);
    add(
      (databaseNames ?? []).map((name) => ({
        key: `database ${name}`,
        icon: "database",
        label: name,
        note: "Database",
        go: () => void navigate({ to: "/databases/$database/documents", params: { database: name } }),
      })),
    );
    if (isThere) {
      add(
        (found?.collections ?? []).map((collection) => ({
          key: `collection ${collection.name}`,
          icon: "documents",
          label: collection.name,
          note: `Collection · ${count(collection.count)}`,
          go: () =>
            void navigate({ to: "/databases/$database/documents", params: { database }, search: { collection: collection.name } }),
        })),
      );
      add(
        withoutReplacements(indexes ?? []).map((index) => ({
          key: `index ${index.Name}`,
          icon: "index",
          label: index.Name,
          note: "Index",
          go: () => void navigate({ to: "/databases/$database/index", params: { database }, search: { name: index.Name } }),
        })),
      );
      if (wanted.length >= 2) {
        entries.push(
          ...[...(ids ?? []).filter((id) => id.toLowerCase().startsWith(wanted)), ...(idsInside ?? [])]
            .filter((id) => id.toLowerCase().includes(wanted))
            .map((id): Entry => ({
              key: `document ${id}`,
              icon: "documents",
              label: id,
              note: "Document",
              go: () => void navigate({ to: "/databases/$database/document", params: { database }, search: { id } }),
            })),
        );
      }
    }
    // What begins with what was typed is meant more likely than what has it inside.
    const rank = (entry: Entry) => (entry.label.toLowerCase().startsWith(wanted) ? 0 : 1);
    return entries.sort((one, other) => rank(one) - rank(other));
  }, [typed, current, database, isThere, databaseNames, found, indexes, ids, idsInside, navigate, isOperator]);
  return { entries, needsDatabase: typed !== "" && current === undefined && !isThere && (databaseNames?.length ?? 0) > 0 };
}
