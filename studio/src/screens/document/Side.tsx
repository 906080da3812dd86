// What stands beside a document: its properties, its attachments and counters, and the documents that it names.
import { ActionIcon, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { existing, type Loaded } from "../../api/documents";
import { idsIn } from "../../editor/ids";
import { ago, dateTime, size } from "../../format/format";
import { copyText } from "../../shell/clipboard";
import { Icon } from "../../theme/icons";
import { Attachments } from "./Attachments";
import { Counters } from "./Counters";
import styles from "./document.module.css";

/** `pollMs`: how often attachments and counters are read; false while the server tells of changes. */
export function Side({
  database,
  loaded,
  text,
  pollMs,
}: {
  database: string;
  loaded: Loaded;
  text: string;
  pollMs: number | false;
}) {
  const ids = useMemo(() => idsIn(text, loaded.id), [text, loaded.id]);
  const { data: related } = useQuery({
    queryKey: ["existing", database, ids],
    queryFn: ({ signal }) => existing(database, ids, signal),
    enabled: ids.length > 0,
  });
  return (
    <aside className={styles.side} aria-label="About the document">
      <h2 className={styles.sideTitle}>Properties</h2>
      <dl className={styles.properties}>
        <Property name="Id" copy={loaded.id}>
          {loaded.id}
        </Property>
        <Property name="Collection">
          {loaded.collection === undefined ? (
            "@empty"
          ) : (
            <Link to="/databases/$database/documents" params={{ database }} search={{ collection: loaded.collection }}>
              {loaded.collection}
            </Link>
          )}
        </Property>
        <Property name="Modified">
          <span className="number">{dateTime(loaded.lastModified)}</span>
          <span className="soft"> · {ago(loaded.lastModified)}</span>
        </Property>
        <Property name="Size">
          <span className="number">{size(loaded.size)}</span>
        </Property>
        <Property name="Change vector" copy={loaded.changeVector}>
          <span className="mono">{loaded.changeVector}</span>
        </Property>
      </dl>
      <Attachments database={database} id={loaded.id} pollMs={pollMs} />
      <Counters database={database} id={loaded.id} pollMs={pollMs} />
      {related && related.length > 0 && (
        <>
          <h2 className={styles.sideTitle}>Related documents</h2>
          <ul className={styles.related}>
            {related.map((found) => (
              <li key={found.id}>
                <Link to="/databases/$database/document" params={{ database }} search={{ id: found.id }} className="cut">
                  {found.id}
                </Link>
                <span className="soft">{found.collection}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

function Property({ name, children, copy }: { name: string; children: ReactNode; copy?: string }) {
  return (
    <div className={styles.property}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.value}>{children}</span>
        {copy !== undefined && (
          <Tooltip label="Copy">
            <ActionIcon size="sm" aria-label={`Copy ${name.toLowerCase()}`} onClick={() => void copyText(copy, name)}>
              <Icon name="copy" size={12} />
            </ActionIcon>
          </Tooltip>
        )}
      </dd>
    </div>
  );
}
