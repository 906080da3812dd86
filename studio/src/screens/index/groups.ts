// What the server tells of groups, as it is drawn: documents with what the map gives, groups with the way from there to the result.
import type { Group, GroupNode, Row } from "../../api/indexes";

/** Children of a node, as the server stores groups (docs/design/map-reduce.md). */
const NODE_CHILDREN = 64;

/** A value that the map gave of a chosen document. */
export type Entry = {
  id: string;
  value: Row;
  /** The group that it is in, by its place in the list of groups. */
  group: number;
  /** What it is a part of: a part of the group, or its result. */
  into: string;
};

export type Source = { id: string; entries: Entry[] };

/** A part of a group that leads from a chosen document to the result. */
export type Part = {
  id: string;
  /** 0: its children are values. */
  level: number;
  /** The numbers of the values below it, in their group. */
  first: number;
  last: number;
  results: Row[];
  hasFailed: boolean;
  into: string;
  others: Others;
};

/** What is reduced together with what is shown. */
export type Others = { values: Row[]; parts: { first: number; last: number; results: Row[] }[] };

export type ShownGroup = {
  /** Of its result. */
  id: string;
  name: string;
  key: string;
  count: number;
  isWhole: boolean;
  results: Row[];
  hasFailed: boolean;
  /** From those next to the values to those next to the result; empty if the values are reduced at once. */
  levels: Part[][];
  others: Others;
};

export type Shown = { sources: Source[]; groups: ShownGroup[] };

function resultsOf(node: GroupNode): Row[] {
  const found = node.AggregationResult;
  return found === null ? [] : Array.isArray(found) ? found : [found];
}

function range(node: GroupNode): { first: number; last: number } {
  const size = NODE_CHILDREN ** (node.Level + 1);
  return { first: node.PageNumber * size, last: (node.PageNumber + 1) * size - 1 };
}

/** Whether a chosen document has a value below a node. */
function leads(node: GroupNode): boolean {
  return (node.Children?.some(leads) ?? false) || (node.Entries?.some((entry) => entry.Source !== null) ?? false);
}

/** `groups`: of these documents, however their ids are spelled there. */
export function shownOf(groups: readonly Group[], documents: readonly string[]): Shown {
  const sources = new Map<string, Source>(documents.map((id) => [id.toLowerCase(), { id, entries: [] }]));
  const shown = groups.map((group, at): ShownGroup => {
    const levels: Part[][] = Array.from({ length: group.Depth - 1 }, () => []);
    /** Takes what is below a node, and gives what is beside the way. */
    const below = (node: GroupNode, into: string): Others => {
      const others: Others = { values: [], parts: [] };
      for (const entry of node.Entries ?? []) {
        const source = entry.Source === null ? undefined : sources.get(entry.Source.toLowerCase());
        if (source) source.entries.push({ id: `${group.Name}/${entry.Number}`, value: entry.Data, group: at, into });
        else others.values.push(entry.Data);
      }
      for (const child of node.Children ?? []) {
        const [results, numbers] = [resultsOf(child), range(child)];
        if (!leads(child)) {
          others.parts.push({ ...numbers, results });
          continue;
        }
        const id = `${group.Name}/${child.Level}/${child.PageNumber}`;
        const part = { id, level: child.Level, ...numbers, results, hasFailed: child.HasFailed, into };
        levels[child.Level]?.push({ ...part, others: below(child, id) });
      }
      return others;
    };
    const others = below(group.Root, group.Name);
    return {
      id: group.Name,
      name: group.Name,
      key: keyText(group.DisplayName),
      count: group.NumberOfEntries,
      isWhole: group.IsWhole,
      results: resultsOf(group.Root),
      hasFailed: group.Root.HasFailed,
      levels,
      others,
    };
  });
  return { sources: [...sources.values()], groups: shown };
}

/** `{"Company":"companies/1-A"}`: `companies/1-A`; of several fields `City: Rome, Year: 1997`. */
export function keyText(json: string): string {
  let key: unknown;
  try {
    key = JSON.parse(json);
  } catch {
    return json;
  }
  if (typeof key !== "object" || key === null || Array.isArray(key)) return plain(key);
  const members = Object.entries(key);
  if (members.length === 1) return plain(members[0]![1]);
  return members.map(([name, value]) => `${name}: ${plain(value)}`).join(", ");
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
