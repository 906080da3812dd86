// What takes the space of a database, as areas: its collections, each index, journals, and what is free.
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import type { StorageArea } from "../../api/diagnostics";
import { collectionsQuery } from "../../api/documents";
import { treemap } from "../../chart/treemap";
import { size } from "../../format/format";
import { useAbilities } from "../../shell/session";
import { Failed, Loading } from "../../shell/states";
import { REPLACEMENT } from "../indexes/state";
import { Compact } from "./Compact";
import { partsOf, withoutSlivers, type Kind, type Part } from "./space";
import styles from "./statistics.module.css";

const MAP_HEIGHT = 280;
/** Areas that are higher have room for a name, and for a size below it. */
const NAME_HEIGHT = 36;
const SIZE_HEIGHT = 56;

const KINDS: Record<Kind, string> = {
  collection: "Documents",
  structure: "Key trees and unused space",
  index: "Indexes",
  journal: "Journals",
  free: "Free",
  rest: "Reserved",
  others: "Others",
};

type SpaceProps = {
  database: string;
  areas: readonly StorageArea[];
  /** Bytes of all files; 0 in memory. */
  fileSize: number;
};

export function Space({ database, areas, fileSize }: SpaceProps) {
  const { data, error, refetch } = useQuery(collectionsQuery(database));
  const { isOperator } = useAbilities();
  // Without the collections all documents would be something else.
  const parts = useMemo(() => (data ? partsOf(areas, data.collections, fileSize) : undefined), [areas, data, fileSize]);
  const total = parts?.reduce((sum, part) => sum + part.bytes, 0) ?? 0;
  if (parts?.length === 0) return null;
  return (
    <section className={styles.panel} aria-labelledby="space">
      <h2 id="space">
        What takes the space{" "}
        <span className="soft number">
          {fileSize > 0 ? `${size(fileSize)} on disk` : total > 0 ? `${size(total)} in memory` : ""}
        </span>
        {fileSize > 0 && isOperator && <Compact database={database} areas={areas} />}
      </h2>
      {parts ? (
        <Areas database={database} parts={parts} />
      ) : error ? (
        <Failed what="The collections cannot be read" error={error} retry={() => void refetch()} />
      ) : (
        <Loading what="collections" />
      )}
    </section>
  );
}

function Areas({ database, parts }: { database: string; parts: readonly Part[] }) {
  const { ref, width } = useElementSize();
  const shown = useMemo(() => withoutSlivers(parts, width, MAP_HEIGHT), [parts, width]);
  const fields = treemap(
    shown.map((part) => part.bytes),
    width,
    MAP_HEIGHT,
  );
  const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => parts.some((part) => part.kind === kind));
  return (
    <>
      <div ref={ref} className={styles.treemap} style={{ height: MAP_HEIGHT }}>
        <ul>
          {fields.map((field, at) => {
            const part = shown[at]!;
            const isNamed = field.width > 70 && field.height > NAME_HEIGHT;
            const isSized = isNamed && field.height > SIZE_HEIGHT;
            const style = {
              left: field.x,
              top: field.y,
              width: Math.max(0, field.width - 2),
              height: Math.max(0, field.height - 2),
            };
            return (
              <li key={`${part.kind} ${part.name}`} style={style} className={styles.area} data-kind={part.kind}>
                <Place database={database} part={part}>
                  {isNamed && <b className="cut">{part.name}</b>}
                  {isSized && <span className="number">{size(part.bytes)}</span>}
                </Place>
              </li>
            );
          })}
        </ul>
      </div>
      <p className={styles.legend}>
        {kinds.map((kind) => (
          <span key={kind}>
            <i data-kind={kind} />
            {KINDS[kind]}{" "}
            <b className="number">{size(parts.reduce((sum, part) => sum + (part.kind === kind ? part.bytes : 0), 0))}</b>
          </span>
        ))}
      </p>
    </>
  );
}

/** A part, which leads to what it holds. */
function Place({ database, part, children }: { database: string; part: Part; children: ReactNode }) {
  const words = [part, ...(part.parts ?? [])].map(({ name, bytes }) => `${name}, ${size(bytes)}`).join("\n");
  if (part.kind === "collection") {
    return (
      <Link
        to="/databases/$database/documents"
        params={{ database }}
        search={{ collection: part.name }}
        aria-label={words}
        title={words}
      >
        {children}
      </Link>
    );
  }
  if (part.kind === "index") {
    const name = part.name.startsWith(REPLACEMENT) ? part.name.slice(REPLACEMENT.length) : part.name;
    return (
      <Link to="/databases/$database/index" params={{ database }} search={{ name }} aria-label={words} title={words}>
        {children}
      </Link>
    );
  }
  return <span title={words}>{children}</span>;
}
