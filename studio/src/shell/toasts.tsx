// Short messages about what was done or failed, told to screen readers too.
import { useSyncExternalStore } from "react";
import { ActionIcon } from "@mantine/core";
import { Icon } from "../theme/icons";
import { listeners } from "./listeners";
import { messageOf } from "./states";
import styles from "./toasts.module.css";

type Toast = { id: number; kind: "good" | "bad"; text: string };

/** Messages that are shown at most. */
const SHOWN_MAX = 4;
/** Good news goes by itself; what failed stays until it is closed. */
const GOOD_MS = 4000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const { subscribe, tell } = listeners();

function set(next: readonly Toast[]) {
  toasts = next;
  tell();
}

function close(id: number) {
  set(toasts.filter((toast) => toast.id !== id));
}

function add(toast: Toast) {
  const next = [...toasts, toast];
  while (next.length > SHOWN_MAX) {
    // What failed is not pushed out by good news.
    const good = next.findIndex(({ kind }) => kind === "good");
    next.splice(Math.max(0, good), 1);
  }
  set(next);
}

/** Says what was done. */
export function told(text: string) {
  const id = ++lastId;
  add({ id, kind: "good", text });
  setTimeout(() => close(id), GOOD_MS);
}

/** Says what failed, and why. */
export function failed(what: string, error: unknown) {
  add({ id: ++lastId, kind: "bad", text: `${what}: ${messageOf(error)}` });
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.toasts} role="region" aria-label="Messages">
      {/* What failed is told at once. */}
      {(["bad", "good"] as const).map((kind) => (
        <div key={kind} aria-live={kind === "bad" ? "assertive" : "polite"}>
          {shown
            .filter((toast) => toast.kind === kind)
            .map((toast) => (
              <div key={toast.id} className={`${styles.toast} ${styles[kind]}`}>
                <Icon name={kind === "good" ? "check" : "warning"} />
                <span className={styles.text}>{toast.text}</span>
                <ActionIcon size="sm" aria-label="Close message" onClick={() => close(toast.id)}>
                  <Icon name="close" size={12} />
                </ActionIcon>
              </div>
            ))}
        </div>
      ))}
    </div>
  );
}
