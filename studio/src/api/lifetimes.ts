// Expiration, refresh and archival of documents.
import { below, send, sendForJson } from "./http";

/** The tasks, as the record of a database names them. */
export type TaskName = "Expiration" | "Refresh" | "DataArchival";

/** What each has for its path, and for the time between two runs. */
const TASKS: Record<TaskName, { path: string; frequency: string }> = {
  Expiration: { path: "expiration", frequency: "DeleteFrequencyInSec" },
  Refresh: { path: "refresh", frequency: "RefreshFrequencyInSec" },
  DataArchival: { path: "data-archival", frequency: "ArchiveFrequencyInSec" },
};

export type Task = {
  isEnabled: boolean;
  /** Seconds; `undefined`: the default. */
  frequency: number | undefined;
  /** Documents of one run; `undefined`: all. */
  countMax: number | undefined;
};

export type DueDocument = { Id: string; At: string };

export type TaskState = Task & {
  /** Documents since the database was opened. */
  handled: number;
  /** Those that are due first. */
  due: readonly DueDocument[];
};

type Answer = { Now: string } & Record<
  TaskName,
  { Configuration: Record<string, unknown> | null; Handled: number; Due: DueDocument[] }
>;

/** GET `/databases/{name}/due` */
export async function read(database: string, signal?: AbortSignal): Promise<Record<TaskName, TaskState>> {
  const answer = await sendForJson<Answer>(below(database, "/due"), { signal });
  const state = (name: TaskName): TaskState => {
    const { Configuration, Handled, Due } = answer[name];
    const number = (key: string) => (typeof Configuration?.[key] === "number" ? Configuration[key] : undefined);
    return {
      isEnabled: Configuration !== null && Configuration["Disabled"] !== true,
      frequency: number(TASKS[name].frequency),
      countMax: number("MaxItemsToProcess"),
      handled: Handled,
      due: Due,
    };
  };
  return { Expiration: state("Expiration"), Refresh: state("Refresh"), DataArchival: state("DataArchival") };
}

/** POST `/databases/{name}/admin/{expiration,refresh,data-archival}/config` */
export async function configure(database: string, name: TaskName, task: Task): Promise<void> {
  const { path, frequency } = TASKS[name];
  const body = { Disabled: !task.isEnabled, [frequency]: task.frequency ?? null, MaxItemsToProcess: task.countMax ?? null };
  await send(below(database, `/admin/${path}/config`), { method: "POST", body });
}
