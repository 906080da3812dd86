// Shapes that a query names, as lines on the map: `spatial.circle(..)` and `spatial.wkt('..')`.
import { bare } from "../../api/limit";
import { unwrapped, type Line } from "./unwrapped";

type Position = [longitude: number, latitude: number];

/** The radius of the earth that the server uses for circles. */
const EARTH_KM = 6371.0087714;
const MILE_KM = 1.609344;
/** Corners of what is drawn as a circle. */
const CORNER_COUNT = 120;

/**
 * The outlines of the shapes in the text of a query, holes and lines among them; what is a point or names a field has none.
 * `parameters`: a JSON object as text.
 */
export function shapesOf(text: string, parameters: string): Line[] {
  const code = bare(text);
  const lines: Line[] = [];
  for (const call of code.matchAll(/\bspatial\s*\.\s*(circle|wkt)\s*\(([^()]*)\)/gi)) {
    const start = call.index + call[0].length - 1 - call[2]!.length;
    const values = argumentsOf(text.slice(start, start + call[2]!.length), call[2]!, parameters);
    lines.push(...(call[1]!.toLowerCase() === "circle" ? ofCircle(values) : ofText(values)));
  }
  return lines;
}

/** The values between the brackets; undefined is what is neither a constant nor a parameter. * `code`: the same without texts. */
function argumentsOf(written: string, code: string, parameters: string): unknown[] {
  const values: unknown[] = [];
  let at = 0;
  for (const part of code.split(",")) {
    const one = written.slice(at, at + part.length).trim();
    at += part.length + 1;
    if (/^\$\w+$/.test(one)) values.push(parameter(parameters, one.slice(1)));
    else if (/^(['"])[^]*\1$/.test(one)) values.push(one.slice(1, -1));
    else values.push(one === "" || Number.isNaN(Number(one)) ? undefined : Number(one));
  }
  return values;
}

function parameter(parameters: string, name: string): unknown {
  try {
    return (JSON.parse(parameters.trim() || "{}") as Record<string, unknown>)[name];
  } catch {
    // The query says so when it runs.
    return undefined;
  }
}

/** `radius, latitude, longitude[, units]` */
function ofCircle([radius, latitude, longitude, units]: unknown[]): Line[] {
  if (typeof radius !== "number" || typeof latitude !== "number" || typeof longitude !== "number") return [];
  return unwrapped(circle(longitude, latitude, radius, units));
}

/** `text[, units]`: well-known text, with the server's `CIRCLE(x y d=radius)` and `ENVELOPE(min x, max x, max y, min y)`. */
function ofText([text, units]: unknown[]): Line[] {
  if (typeof text !== "string") return [];
  const lines: Line[] = [];
  let kind = "";
  for (const [, word, body] of text.matchAll(/([a-z]+)|\(([^()]*)\)/gi)) {
    if (word !== undefined) {
      // Those with a third and a fourth coordinate have the same first ones.
      if (!/^(z|m|zm)$/i.test(word)) kind = word.toUpperCase();
      continue;
    }
    const numbers = body!.split(/[\s,=a-z]+/i).flatMap((part) => (part === "" ? [] : [Number(part)]));
    if (!numbers.every(Number.isFinite)) continue;
    if (kind === "CIRCLE" && numbers.length === 3) lines.push(...unwrapped(circle(numbers[0]!, numbers[1]!, numbers[2]!, units)));
    else if (kind === "ENVELOPE" && numbers.length === 4) lines.push(...unwrapped(envelope(numbers)));
    else if (kind.endsWith("LINESTRING") || kind.endsWith("POLYGON")) lines.push(...unwrapped(positions(body!)));
  }
  return lines;
}

function positions(text: string): Position[] {
  return text.split(",").map((position) => {
    const [x, y] = position.trim().split(/\s+/).map(Number);
    return [x!, y ?? 0];
  });
}

/** A side of more than half the earth has corners within, since a longer jump counts as one over the antimeridian. */
function envelope([west, east, north, south]: number[]): Position[] {
  const last = east! < west! ? east! + 360 : east!;
  const across = [0, 0.25, 0.5, 0.75, 1].map((part) => west! + (last - west!) * part).map((x) => (x > 180 ? x - 360 : x));
  const corners: Position[] = [
    ...across.map((x): Position => [x, south!]),
    ...[...across].reverse().map((x): Position => [x, north!]),
  ];
  return [...corners, corners[0]!];
}

/** A circle on the earth. Without units its radius is in kilometers. */
function circle(longitude: number, latitude: number, radius: number, units: unknown): Position[] {
  const angle = (radius * (typeof units === "string" && /^miles$/i.test(units) ? MILE_KM : 1)) / EARTH_KM;
  const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  const corners = Array.from({ length: CORNER_COUNT }, (_, at): Position => {
    const bearing = (at / CORNER_COUNT) * 2 * Math.PI;
    const sine = Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(bearing);
    const y = Math.asin(Math.max(-1, Math.min(1, sine)));
    const x =
      lambda + Math.atan2(Math.sin(bearing) * Math.sin(angle) * Math.cos(phi), Math.cos(angle) - Math.sin(phi) * Math.sin(y));
    return [(((((x * 180) / Math.PI + 540) % 360) + 360) % 360) - 180, (y * 180) / Math.PI];
  });
  return [...corners, corners[0]!];
}
