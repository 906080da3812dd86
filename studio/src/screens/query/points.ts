// Places on earth in results.
import { valueAt } from "../../grid/columns";

/** `values`: of the fields that were asked for, in their order. */
export type Point = {
  latitude: number;
  longitude: number;
  label: string;
  id: string | undefined;
  values: readonly unknown[];
};

const NAMES = [
  ["Latitude", "Longitude"],
  ["latitude", "longitude"],
  ["Lat", "Lng"],
  ["lat", "lng"],
  ["lat", "lon"],
] as const;

/** Levels below the root in which a place is looked for. */
const DEPTH_MAX = 2;

/** `path`: of the object that has both numbers, with a dot at its end; "" for the root. `names`: what they are called there. */
type Found = { at: [latitude: number, longitude: number]; path: string; names: (typeof NAMES)[number] };

function placeIn(value: unknown, depth: number, path = ""): Found | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const members = value as Record<string, unknown>;
  for (const [latitude, longitude] of NAMES) {
    const [north, east] = [members[latitude], members[longitude]];
    if (typeof north === "number" && typeof east === "number" && Math.abs(north) <= 90 && Math.abs(east) <= 180)
      return { at: [north, east], path, names: [latitude, longitude] as (typeof NAMES)[number] };
  }
  if (depth >= DEPTH_MAX) return undefined;
  for (const [name, below] of Object.entries(members)) {
    if (name === "@metadata") continue;
    const found = placeIn(below, depth + 1, `${path}${name}.`);
    if (found) return found;
  }
  return undefined;
}

/** The first place in each row that has one, with the values of fields at some paths. */
export function pointsOf(rows: readonly Record<string, unknown>[], paths: readonly string[] = []): Point[] {
  return rows.flatMap((row) => {
    const place = placeIn(row, 0);
    if (!place) return [];
    const id = (row["@metadata"] as Record<string, unknown> | undefined)?.["@id"];
    const name = row["Name"] ?? row["name"] ?? id ?? "";
    return [
      {
        latitude: place.at[0],
        longitude: place.at[1],
        label: String(name),
        id: typeof id === "string" ? id : undefined,
        values: paths.map((path) => valueAt(row, path)),
      },
    ];
  });
}

/** Where rows have their places: the paths of both numbers, and those of the first place. */
export function pointsPathOf(
  rows: readonly Record<string, unknown>[],
): { latitude: string; longitude: string; at: [number, number] } | undefined {
  for (const row of rows) {
    const found = placeIn(row, 0);
    if (found) return { latitude: found.path + found.names[0], longitude: found.path + found.names[1], at: found.at };
  }
  return undefined;
}
