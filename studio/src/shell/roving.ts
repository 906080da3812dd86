// Lists of links or buttons that are one stop of the tab key: arrow keys go through them.
import type { KeyboardEvent } from "react";

/** Moves the focus within the element that listens. * `selector`: what can have it. */
export function goThrough(event: KeyboardEvent<HTMLElement>, selector = "a") {
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
  const at = all.indexOf(document.activeElement as HTMLElement);
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowRight: at + 1,
    ArrowUp: at - 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: all.length - 1,
  };
  const next = steps[event.key];
  if (next === undefined) return;
  event.preventDefault();
  all[Math.min(Math.max(0, next), all.length - 1)]?.focus();
}
