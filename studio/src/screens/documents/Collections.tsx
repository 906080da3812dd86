// The collections of a database, at the side.
import { Link } from "@tanstack/react-router";
import type { Collection } from "../../api/documents";
import { count, counted, size } from "../../format/format";
import styles from "./documents.module.css";

/** All documents, or those of a collection, as a place to go to. */
export function toDocuments(database: string, collection?: string) {
  return {
    to: "/databases/$database/documents",
    params: { database },
    search: collection === undefined ? {} : { collection },
  } as const;
}

export function Collections({
  database,
  total,
  collections,
  chosen,
}: {
  database: string;
  total: number;
  collections: Collection[];
  chosen: string | undefined;
}) {
  return (
    <nav className={styles.collections} aria-label="Collections">
      <Link
        {...toDocuments(database)}
        className={styles.collection}
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
          {...toDocuments(database, collection.name)}
          className={styles.collection}
          aria-current={chosen?.toLowerCase() === collection.name.toLowerCase() ? "page" : undefined}
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
