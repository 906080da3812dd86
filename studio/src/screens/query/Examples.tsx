// Queries to begin with, for the largest collection that somebody wrote.
import { useQuery } from "@tanstack/react-query";
import type { Collection } from "../../api/documents";
import { examplesOf } from "./examples";
import { sampleQuery } from "./samples";
import styles from "./examples.module.css";

export function Examples({
  database,
  collections,
  use,
}: {
  database: string;
  collections: readonly Collection[];
  /** Puts one into the editor. */
  use: (text: string) => void;
}) {
  const own = collections.filter(({ name }) => !name.startsWith("@"));
  const name = own.reduce<Collection | undefined>(
    (most, next) => (most && most.count >= next.count ? most : next),
    undefined,
  )?.name;
  const { data } = useQuery({ ...sampleQuery(database, name ?? "", collections), enabled: name !== undefined });
  if (name === undefined || !data) return null;
  return (
    <ul className={styles.examples} aria-label="Example queries">
      {examplesOf(name, data).map(({ what, text }) => (
        <li key={what}>
          <button type="button" onClick={() => use(text)}>
            <span>{what}</span>
            <code>{text}</code>
          </button>
        </li>
      ))}
    </ul>
  );
}
