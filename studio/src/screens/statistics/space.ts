// What takes the space of a database, as parts of the treemap.
import type { StorageArea } from "../../api/diagnostics";
import type { Collection } from "../../api/documents";
import { treemap } from "../../chart/treemap";
import { counted } from "../../format/format";

export type Kind = "collection" | "structure" | "index" | "journal" | "free" | "rest" | "others";

/** `parts`: what `others` stands for. */
export type Part = { kind: Kind; name: string; bytes: number; parts?: readonly Part[] };

/** Areas of the treemap that are lower or narrower, in pixels, cannot be seen apart or clicked. */
const SIDE_MIN = 8;

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

/** The parts as a treemap of that size shows them: those whose areas would be slivers are one, which is large enough to be seen. */
export function withoutSlivers(parts: readonly Part[], width: number, height: number): Part[] {
  let shown: readonly Part[] = parts;
  let hidden: readonly Part[] = [];
  for (;;) {
    const bytes = hidden.reduce((sum, part) => sum + part.bytes, 0);
    const name = counted(hidden.length, "other");
    const others: Part[] = hidden.length === 0 ? [] : [{ kind: "others", name, bytes, parts: hidden }];
    const all = [...shown, ...others].sort((a, b) => b.bytes - a.bytes);
    const areas = treemap(
      all.map((part) => part.bytes),
      width,
      height,
    );
    const slivers = new Set(all.filter((_, at) => areas[at] && Math.min(areas[at].width, areas[at].height) < SIDE_MIN));
    // What stands for others grows by the smallest part until it is no sliver.
    if ([...slivers].some(({ kind }) => kind === "others")) slivers.add(shown.at(-1)!);
    const next = shown.filter((part) => !slivers.has(part));
    if (next.length === shown.length || next.length === 0) return all;
    hidden = parts.filter((part) => !next.includes(part));
    shown = next;
  }
}
