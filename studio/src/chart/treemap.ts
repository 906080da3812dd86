// Areas as large as what they stand for: squarified treemaps (Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000).

export type Area = { x: number; y: number; width: number; height: number };

/** Places `sizes`, the largest first and none of them 0, in a field. */
export function treemap(sizes: readonly number[], width: number, height: number): Area[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / total;
  const areas: Area[] = [];
  let [x, y, w, h] = [0, 0, width, height];
  let at = 0;
  while (at < sizes.length) {
    const side = Math.min(w, h);
    let count = 1;
    while (at + count < sizes.length && worst(at, count + 1, side) <= worst(at, count, side)) count++;
    const row = sizes.slice(at, at + count);
    const thickness = (row.reduce((sum, size) => sum + size, 0) * scale) / side;
    let along = 0;
    for (const size of row) {
      const length = (size * scale) / thickness;
      areas.push(
        w >= h ? { x, y: y + along, width: thickness, height: length } : { x: x + along, y, width: length, height: thickness },
      );
      along += length;
    }
    if (w >= h) [x, w] = [x + thickness, w - thickness];
    else [y, h] = [y + thickness, h - thickness];
    at += count;
  }
  return areas;

  /** The longest form in a row of `count` from `from` on: 1 is a square. */
  function worst(from: number, count: number, side: number): number {
    const row = sizes.slice(from, from + count).map((size) => size * scale);
    const sum = row.reduce((all, area) => all + area, 0);
    const [most, least] = [Math.max(...row), Math.min(...row)];
    return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
  }
}
