// Lines over the antimeridian. In the data such a line jumps from one edge of the map to the other; drawn as it is it would cross the world.

export type Line = {
  /** Longitude and latitude in degrees. What is beyond 180 is cut off where it is drawn. */
  points: [number, number][];
  /** It goes around a pole: to be filled it is closed along the edge of the map. */
  pole: number | undefined;
};

/** The line without jumps, and the same at the other side of the map if it goes beyond 180 degrees. */
export function unwrapped(line: readonly (readonly [number, number])[]): Line[] {
  const points: [number, number][] = [];
  let turn = 0;
  let before: number | undefined;
  for (const [longitude, latitude] of line) {
    if (before !== undefined && longitude - before > 180) turn -= 360;
    if (before !== undefined && longitude - before < -180) turn += 360;
    before = longitude;
    points.push([longitude + turn, latitude]);
  }
  const isRing = points.length > 2 && points[0]![1] === points.at(-1)![1] && isSamePlace(points[0]![0], points.at(-1)![0]);
  const pole = isRing && turn !== 0 ? (points[0]![1] < 0 ? -90 : 90) : undefined;
  // The edge of the data along the pole is no coast.
  const kept = pole === undefined ? points : points.filter(([, latitude]) => latitude !== pole);
  const shifted = (by: number): Line => ({ points: kept.map(([longitude, latitude]) => [longitude + by, latitude]), pole });
  const found = [shifted(0)];
  if (kept.some(([longitude]) => longitude > 180)) found.push(shifted(-360));
  if (kept.some(([longitude]) => longitude < -180)) found.push(shifted(360));
  return found;
}

function isSamePlace(one: number, other: number): boolean {
  return Math.abs(one - other) % 360 === 0;
}
