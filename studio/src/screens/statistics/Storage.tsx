// The journal of a database, what was flushed of it, who still reads old states, and the room on the device.
import type { StorageArea } from "../../api/diagnostics";
import { serverOf } from "../../api/node";
import { count, counted, size } from "../../format/format";
import { useLive } from "../../shell/live";
import { Facts } from "./Facts";
import styles from "./statistics.module.css";

export function Storage({ areas }: { areas: readonly StorageArea[] }) {
  const { data: live } = useLive();
  const documents = areas.find(({ Type }) => Type === "Documents")?.Report;
  if (!documents) return null;
  const { Flush, Readers, Journals } = documents;
  const inUse = Journals.filter((journal) => !journal.IsKeptForUseAgain);
  const spare = Journals.length - inUse.length;
  const journalSize = Journals.reduce((sum, journal) => sum + journal.AllocatedSpaceInBytes, 0);
  const behind = Flush.LastTransaction - Flush.FlushedTransaction;
  const age = Flush.LastTransaction - Readers.OldestTransaction;
  const node = serverOf(live?.latest);
  const facts: [string, string][] = [
    [
      "Journal of the documents",
      Journals.length === 0
        ? "none, in memory"
        : `${size(journalSize)} in ${counted(inUse.length, "file")}${spare > 0 ? `, ${count(spare)} spare` : ""}`,
    ],
    ["In the journal since the last flush", size(Flush.JournalSinceFlushInBytes)],
    [
      "Written to the data file",
      behind === 0
        ? "everything"
        : behind === 1
          ? "all but the last transaction"
          : `all but the last ${count(behind)} transactions`,
    ],
    ["Flushes since the database was loaded", count(Flush.FlushCount)],
    ["Last transaction", count(Flush.LastTransaction)],
    ["Open snapshots", count(Readers.Open)],
    ["Oldest reader", Readers.Open === 0 ? "none" : age === 0 ? "the latest transaction" : `${counted(age, "transaction")} behind`],
    ["Page versions kept for readers", count(Readers.PageVersionsWaiting)],
    ["Page versions in memory, whole server", size(documents.PageVersionsOfProcessInBytes)],
    ["Writes in the queue", count(documents.QueueLength)],
  ];
  return (
    <section className={styles.panel} aria-labelledby="storage">
      <h2 id="storage">Journal, flush and readers</h2>
      <Facts facts={facts} />
      {node && (
        <div className={styles.meters}>
          {node.DiskInBytes !== null && node.FreeDiskInBytes !== null && (
            <Meter name="Disk" total={node.DiskInBytes} free={node.FreeDiskInBytes} />
          )}
          {node.MemoryInBytes > 0 && <Meter name="Memory" total={node.MemoryInBytes} free={node.FreeMemoryInBytes} />}
        </div>
      )}
    </section>
  );
}

/** From which part on a device is nearly full. */
const NEARLY_FULL = 0.9;

function Meter({ name, total, free }: { name: string; total: number; free: number }) {
  const part = (total - free) / total;
  return (
    <div>
      <p>
        {name} of the machine <b className="number">{`${size(free)} free of ${size(total)}`}</b>
      </p>
      <div className={styles.meter} role="meter" aria-label={`${name} in use`} aria-valuenow={Math.round(part * 100)}>
        <i style={{ width: `${part * 100}%` }} data-full={part >= NEARLY_FULL || undefined} />
      </div>
    </div>
  );
}
