// Places on earth in results.

export type Point = { latitude: number; longitude: number; label: string; id: string | undefined };

const NAMES = [
  ["Latitude", "Longitude"],
  ["latitude", "longitude"],
  ["Lat", "Lng"],
  ["lat", "lng"],
  ["lat", "lon"],
] as const;

/** Levels below the root in which a place is looked for. */
const DEPTH_MAX = 2;

function placeIn(value: unknown, depth: number): [number, number] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const members = value as Record<string, unknown>;
  for (const [latitude, longitude] of NAMES) {
    const [north, east] = [members[latitude], members[longitude]];
    if (typeof north === "number" && typeof east === "number" && Math.abs(north) <= 90 && Math.abs(east) <= 180)
      return [north, east];
  }
  if (depth >= DEPTH_MAX) return undefined;
  for (const [name, below] of Object.entries(members)) {
    if (name === "@metadata") continue;
    const found = placeIn(below, depth + 1);
    if (found) return found;
  }
  return undefined;
}

/** The first place in each row that has one. */
export function pointsOf(rows: readonly Record<string, unknown>[]): Point[] {
  return rows.flatMap((row) => {
    const place = placeIn(row, 0);
    if (!place) return [];
    const id = (row["@metadata"] as Record<string, unknown> | undefined)?.["@id"];
    const name = row["Name"] ?? row["name"] ?? id ?? "";
    return [{ latitude: place[0], longitude: place[1], label: String(name), id: typeof id === "string" ? id : undefined }];
  });
}
