// The collections of a database, at the side.
import { Link } from "@tanstack/react-router";
import type { Collection } from "../../api/documents";
import { count, counted, size } from "../../format/format";
import { goThrough } from "../../shell/roving";
import styles from "./documents.module.css";

/** All documents, or those of a collection, as a place to go to. * `tab`: `fields` of the collection in place of its documents. */
export function toDocuments(database: string, collection?: string, tab?: "fields") {
  return {
    to: "/databases/$database/documents",
    params: { database },
    search: collection === undefined ? {} : tab === undefined ? { collection } : { collection, tab },
  } as const;
}

export function Collections({
  database,
  total,
  collections,
  chosen,
  tab,
}: {
  database: string;
  total: number;
  collections: Collection[];
  chosen: string | undefined;
  /** What is shown of the chosen collection, and of the next one. */
  tab: "fields" | undefined;
}) {
  const isChosen = ({ name }: Collection) => chosen?.toLowerCase() === name.toLowerCase();
  // One stop of the tab key, also where the chosen collection is gone.
  const stop = collections.find(isChosen)?.name;
  return (
    <nav className={styles.collections} aria-label="Collections" onKeyDown={goThrough}>
      <Link
        {...toDocuments(database)}
        className={styles.collection}
        tabIndex={stop === undefined ? 0 : -1}
        aria-current={chosen === undefined ? "page" : undefined}
        activeOptions={{ exact: true }}
        activeProps={{}}
      >
        <span className="cut">All documents</span>
        <span className={`${styles.count} number`}>{count(total)}</span>
      </Link>
      <h2 className={styles.collectionsTitle}>Collections</h2>
      {collections.map((collection) => (
        <Link
          key={collection.name}
          {...toDocuments(database, collection.name, tab)}
          className={styles.collection}
          tabIndex={collection.name === stop ? 0 : -1}
          aria-current={isChosen(collection) ? "page" : undefined}
          activeProps={{}}
          title={`${collection.name}: ${counted(collection.count, "document")}, ${size(collection.size)}`}
        >
          <span className="cut">{collection.name}</span>
          <span className={`${styles.count} number`}>{count(collection.count)}</span>
        </Link>
      ))}
    </nav>
  );
}
