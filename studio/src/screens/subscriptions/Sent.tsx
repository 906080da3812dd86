// What a subscription would send: documents as JSON, and scripts that failed.
import { Link } from "@tanstack/react-router";
import type { Sent as SentType } from "../../api/subscriptions";
import styles from "./subscriptions.module.css";

/** Documents of a trial. */
export const TRIED_COUNT = 10;

export function Sent({ database, sent }: { database: string; sent: readonly SentType[] }) {
  return (
    <ol className={styles.sent} aria-label="What would be sent" tabIndex={0}>
      {sent.map(({ id, text, error }, at) => (
        <li key={id ?? at}>
          {id !== undefined && (
            <Link to="/databases/$database/document" params={{ database }} search={{ id }}>
              {id}
            </Link>
          )}
          {error === undefined ? <pre>{text}</pre> : <p className={styles.error}>{error}</p>}
        </li>
      ))}
    </ol>
  );
}
