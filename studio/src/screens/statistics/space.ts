// What takes the space of a database, as parts of the treemap.
import type { StorageArea } from "../../api/diagnostics";
import type { Collection } from "../../api/documents";

export type Kind = "collection" | "structure" | "index" | "journal" | "free" | "rest";

export type Part = { kind: Kind; name: string; bytes: number };

/**
 * The parts, the largest first. Documents are told by collection; what their pages hold besides is their structure. `fileSize`: bytes of
 * all files, what no area has among them.
 */
export function partsOf(areas: readonly StorageArea[], collections: readonly Collection[], fileSize: number): Part[] {
  const parts: Part[] = [];
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  for (const { Name, Type, Report } of areas) {
    const used = Report.DataFile.UsedSpaceInBytes;
    if (Type === "Index") {
      parts.push({ kind: "index", name: Name, bytes: used });
      continue;
    }
    parts.push(...collections.map(({ name, size }): Part => ({ kind: "collection", name, bytes: size })));
    const rest = used - sum(collections.map(({ size }) => size));
    parts.push({ kind: "structure", name: "Key trees and unused space", bytes: rest });
  }
  const journals = areas.flatMap(({ Report }) => Report.Journals.map((journal) => journal.AllocatedSpaceInBytes));
  parts.push({ kind: "journal", name: "Journals", bytes: sum(journals) });
  parts.push({ kind: "free", name: "Free in files", bytes: sum(areas.map(({ Report }) => Report.DataFile.FreeSpaceInBytes)) });
  const told = areas.map(({ Report }) => Report.DataFile.AllocatedSpaceInBytes);
  parts.push({ kind: "rest", name: "Reserved at the end of files", bytes: fileSize - sum(told) - sum(journals) });
  return parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
}
