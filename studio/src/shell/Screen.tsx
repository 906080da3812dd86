// The frame of each screen: title, what it is about, what one can do, and the rest below.
import { useEffect, type ReactNode } from "react";
import styles from "./screen.module.css";

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
  useEffect(() => {
    document.title = `${title} · Rookery`;
  }, [title]);
  return (
    <div className={styles.screen}>
      <header className={styles.head}>
        <h1 className={`${styles.title} cut`}>{title}</h1>
        {about && <div className={`${styles.about} cut`}>{about}</div>}
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      <div className={styles.body}>{children}</div>
    </div>
  );
}
