// Loading, empty and failed: every screen shows them the same way.
import { Button, Loader } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../api/http";
import { Icon, type IconName } from "../theme/icons";
import styles from "./states.module.css";

/** While something is on its way. Shown after a moment only, so that what is quick does not flicker. */
export function Loading({ what, children }: { what: string; children?: ReactNode }) {
  return (
    <div className={styles.state} role="status">
      <div className={styles.late}>
        <Loader size="sm" aria-hidden="true" />
        <p className={styles.text}>Loading {what}…</p>
        {children}
      </div>
    </div>
  );
}

/** Nothing is there, and what one may do about it. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={22} />
      </span>
      <h2 className={styles.title}>{title}</h2>
      {children && <div className={styles.text}>{children}</div>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  );
}

/** What failed, in the server's words, and the way to try again. */
export function Failed({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const status = error instanceof ApiError && error.status > 0 ? `${error.kind || "Error"} · ${error.status}` : undefined;
  return (
    <div className={styles.state} role="alert">
      <span className={`${styles.icon} ${styles.bad}`}>
        <Icon name="warning" size={22} />
      </span>
      <h2 className={styles.title}>{what}</h2>
      <p className={styles.text}>{messageOf(error)}</p>
      {status && <p className={styles.status}>{status}</p>}
      {retry && (
        <div className={styles.action}>
          <Button variant="default" leftSection={<Icon name="refresh" size={14} />} onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** What an error says to people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
