// Imports, exports and long deletions. They go on whichever screen is open; the navigation has their progress.
import { useSyncExternalStore } from "react";
import { listeners } from "./listeners";
import { messageOf } from "./states";
import { failed, told } from "./toasts";

export type Outcome = { isGood: boolean; text: string };

export type Transfer = {
  id: number;
  title: string;
  /** From 0 to 1. */
  part: number;
  /** How far it is, in words. */
  text: string;
  outcome: Outcome | undefined;
};

/** What it does: tells how far it is, and gives what is said at its end. */
export type Work = (tell: (part: number, text: string) => void, signal: AbortSignal) => Promise<string>;

let state: { all: readonly Transfer[]; shown: number | undefined } = { all: [], shown: undefined };
let lastId = 0;
const controllers = new Map<number, AbortController>();
const { subscribe, tell } = listeners();

function set(next: Partial<typeof state>) {
  state = { ...state, ...next };
  tell();
}

function change(id: number, what: Partial<Transfer>) {
  set({ all: state.all.map((transfer) => (transfer.id === id ? { ...transfer, ...what } : transfer)) });
}

/** The browser asks before it closes a page with something under way. */
function onUnload(event: BeforeUnloadEvent) {
  event.preventDefault();
}

/**
 * Begins one and shows it. `stopped`: what is said if it is stopped. `isBrief`: one that went well is told in a message, and needs nobody to
 * close it.
 */
export function begin(title: string, work: Work, stopped: () => string, { isBrief = false } = {}) {
  const id = ++lastId;
  const controller = new AbortController();
  controllers.set(id, controller);
  addEventListener("beforeunload", onUnload);
  set({ all: [...state.all, { id, title, part: 0, text: "", outcome: undefined }], shown: id });
  work((part, text) => change(id, { part, text }), controller.signal)
    .then((text): Outcome => ({ isGood: true, text }))
    .catch((error: unknown): Outcome => ({ isGood: false, text: controller.signal.aborted ? stopped() : messageOf(error) }))
    .then((outcome) => {
      controllers.delete(id);
      if (controllers.size === 0) removeEventListener("beforeunload", onUnload);
      const isShown = state.shown === id;
      const isTold = outcome.isGood && !outcome.text.includes("\n");
      if (isShown && !(isBrief && isTold)) return change(id, { outcome, part: outcome.isGood ? 1 : partOf(id) });
      const [first] = outcome.text.split("\n");
      if (outcome.isGood) told(isBrief ? first! : `${title}: ${first}`);
      else failed(title, new Error(first));
      // What is more than a message is kept until somebody looks at it.
      if (!isTold) return change(id, { outcome, part: outcome.isGood ? 1 : partOf(id) });
      set({ all: state.all.filter((transfer) => transfer.id !== id), shown: isShown ? undefined : state.shown });
    });
}

function partOf(id: number): number {
  return state.all.find((transfer) => transfer.id === id)?.part ?? 0;
}

export function stop(id: number) {
  controllers.get(id)?.abort();
}

export function show(id: number) {
  set({ shown: id });
}

/** Hides the one that is shown; one that is over is forgotten. */
export function hide() {
  set({ all: state.all.filter(({ id, outcome }) => id !== state.shown || outcome === undefined), shown: undefined });
}

export function useTransfers() {
  return useSyncExternalStore(subscribe, () => state);
}
