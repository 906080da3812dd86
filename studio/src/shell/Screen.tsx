// The frame of each screen: title, what it is about, what one can do, and the rest below.
import { useParams } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { ReadOnly } from "./rights";
import styles from "./screen.module.css";

/** The browser itself reads out a page that it loads. */
let isFirst = true;

/** The focus goes to its title: it would stay at a link of the screen before, or nowhere, and nobody would be told that there is another. */
export function Screen({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { database } = useParams({ strict: false }) as { database?: string };
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [title, ...(database === undefined || database === title ? [] : [database]), "Rookery"].join(" · ");
  }, [title, database]);
  useEffect(() => {
    if (isFirst) isFirst = false;
    // What the screen itself gave the focus to keeps it, as an editor.
    else if (!document.activeElement?.closest("main, [role=dialog]")) head.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={styles.screen}>
      <header className={styles.head}>
        <h1 ref={head} tabIndex={-1} className={`${styles.title} cut`}>
          {title}
        </h1>
        {about && <div className={`${styles.about} cut`}>{about}</div>}
        {database !== undefined && <ReadOnly database={database} />}
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      <div className={styles.body}>{children}</div>
    </div>
  );
}
