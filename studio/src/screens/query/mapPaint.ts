// The map as a picture: what part of the world is seen, and how land and places are drawn.
import { BORDERS, OUTLINES } from "./land";
import type { Point } from "./points";
import type { Line } from "./unwrapped";

/** The middle of the view in degrees, pixels per degree of latitude, and how much shorter one of longitude is there. */
export type View = { longitude: number; latitude: number; scale: number; aspect: number };

/** From so many places on they are dots of some pixels, one for all that are at the same. */
const DOTS_FROM_COUNT = 5000;

export function project(longitude: number, latitude: number, view: View, width: number, height: number): [number, number] {
  return [
    width / 2 + (longitude - view.longitude) * view.scale * view.aspect,
    height / 2 - (latitude - view.latitude) * view.scale,
  ];
}

/** The view that has all points in it, with some land around. */
export function fit(points: readonly Point[], width: number, height: number): View {
  let [west, east, south, north] = [180, -180, 90, -90];
  for (const { longitude, latitude } of points) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
  }
  if (points.length === 0) [west, east, south, north] = [-180, 180, -60, 80];
  const span = (low: number, high: number) => Math.max(4, (high - low) * 1.3);
  const latitude = (south + north) / 2;
  const aspect = Math.max(0.3, Math.cos((latitude * Math.PI) / 180));
  const scale = Math.min(width / Math.min(360, span(west, east)) / aspect, height / Math.min(180, span(south, north)));
  return { longitude: (west + east) / 2, latitude, scale: Math.max(0.1, scale), aspect };
}

export function paint(canvas: HTMLCanvasElement, points: readonly Point[], view: View, width: number, height: number) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const colour = getComputedStyle(document.documentElement);
  const of = (name: string) => colour.getPropertyValue(name).trim();
  const at = (longitude: number, latitude: number) => project(longitude, latitude, view, width, height);
  context.scale(ratio, ratio);
  context.fillStyle = of("--map-sea");
  context.fillRect(0, 0, width, height);

  context.save();
  const [west, north] = at(-180, 90);
  const [east, south] = at(180, -90);
  context.beginPath();
  context.rect(west, north, east - west, south - north);
  context.clip();
  const trace = (lines: readonly Line[], isFilled: boolean) => {
    context.beginPath();
    for (const { points: line, pole } of lines) {
      line.forEach(([longitude, latitude], index) => {
        if (index === 0) context.moveTo(...at(longitude, latitude));
        else context.lineTo(...at(longitude, latitude));
      });
      if (!isFilled || pole === undefined) continue;
      context.lineTo(...at(line.at(-1)![0], pole));
      context.lineTo(...at(line[0]![0], pole));
    }
  };
  trace(OUTLINES, true);
  context.fillStyle = of("--panel");
  context.fill("evenodd");
  trace(OUTLINES, false);
  context.lineWidth = 1.2;
  context.strokeStyle = of("--map-line");
  context.stroke();
  trace(BORDERS, false);
  context.lineWidth = 0.8;
  context.stroke();
  context.restore();

  context.fillStyle = of("--accent");
  context.globalAlpha = points.length > 500 ? 0.55 : 0.8;
  if (points.length > DOTS_FROM_COUNT) return dots(context, points, at, width, height);
  const radius = points.length > 500 ? 2.2 : 3.6;
  context.beginPath();
  for (const { longitude, latitude } of points) {
    const [x, y] = at(longitude, latitude);
    if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fill();
}

/** A pixel that has a place has a dot, however many there are. */
function dots(
  context: CanvasRenderingContext2D,
  points: readonly Point[],
  at: (longitude: number, latitude: number) => [number, number],
  width: number,
  height: number,
) {
  const [columns, rows] = [Math.ceil(width), Math.ceil(height)];
  const isDrawn = new Uint8Array(columns * rows);
  for (const { longitude, latitude } of points) {
    const [x, y] = at(longitude, latitude).map(Math.floor) as [number, number];
    if (x < 0 || y < 0 || x >= columns || y >= rows || isDrawn[y * columns + x]) continue;
    isDrawn[y * columns + x] = 1;
    context.fillRect(x - 1, y - 1, 2.4, 2.4);
  }
}
