// The map as a picture: what part of the world is seen, and how land and places are drawn.
import type { Colouring } from "./colours";
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

/** The view that has all points and shapes in it, with some land around. */
export function fit(points: readonly Point[], shapes: readonly Line[], width: number, height: number): View {
  let [west, east, south, north] = [180, -180, 90, -90];
  const take = (longitude: number, latitude: number) => {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
  };
  for (const { longitude, latitude } of points) take(longitude, latitude);
  for (const shape of shapes) for (const [x, y] of shape.points) take(Math.max(-180, Math.min(180, x)), y);
  if (west > east) [west, east, south, north] = [-180, 180, -60, 80];
  const span = (low: number, high: number) => Math.max(4, (high - low) * 1.3);
  const latitude = (south + north) / 2;
  const aspect = Math.max(0.3, Math.cos((latitude * Math.PI) / 180));
  const scale = Math.min(width / Math.min(360, span(west, east)) / aspect, height / Math.min(180, span(south, north)));
  return { longitude: (west + east) / 2, latitude, scale: Math.max(0.1, scale), aspect };
}

export type Picture = {
  points: readonly Point[];
  /** What the query asks for; only their outlines are drawn. */
  shapes: readonly Line[];
  /** Undefined: all places have one colour. */
  colours: Colouring | undefined;
};

export function paint(canvas: HTMLCanvasElement, { points, shapes, colours }: Picture, view: View, width: number, height: number) {
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
  trace(shapes, false);
  context.lineWidth = 2;
  context.strokeStyle = of("--map-shape");
  context.stroke();
  context.restore();

  const fills = colours?.classes.map(({ colour }) => of(colour)) ?? [of("--accent")];
  const fillOf = (at: number) => fills[colours?.of[at] ?? 0]!;
  context.globalAlpha = colours ? 0.9 : points.length > 500 ? 0.55 : 0.8;
  if (points.length > DOTS_FROM_COUNT) return dots(context, points, fillOf, at, width, height);
  const radius = points.length > 500 ? 2.2 : 3.6;
  points.forEach(({ longitude, latitude }, index) => {
    const [x, y] = at(longitude, latitude);
    if (x < -5 || y < -5 || x > width + 5 || y > height + 5) return;
    context.fillStyle = fillOf(index);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  });
}

/** A pixel that has a place has a dot, however many there are; its colour is that of the first. */
function dots(
  context: CanvasRenderingContext2D,
  points: readonly Point[],
  fillOf: (at: number) => string,
  at: (longitude: number, latitude: number) => [number, number],
  width: number,
  height: number,
) {
  const [columns, rows] = [Math.ceil(width), Math.ceil(height)];
  const isDrawn = new Uint8Array(columns * rows);
  let fill = "";
  points.forEach(({ longitude, latitude }, index) => {
    const [x, y] = at(longitude, latitude).map(Math.floor) as [number, number];
    if (x < 0 || y < 0 || x >= columns || y >= rows || isDrawn[y * columns + x]) return;
    isDrawn[y * columns + x] = 1;
    if (fill !== fillOf(index)) context.fillStyle = fill = fillOf(index);
    context.fillRect(x - 1, y - 1, 2.4, 2.4);
  });
}
