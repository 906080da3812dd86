import { expect, test } from "vitest";
import { shapesOf } from "./shapes";

const bounds = (points: readonly (readonly [number, number])[]) => {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)].map((value) => Math.round(value * 100) / 100);
};
const within = (shape: string) => `from Cities where spatial.within(spatial.point(Lat, Lng), ${shape})`;

test("a circle has its radius on the earth, in kilometers or miles, as constants or parameters", () => {
  const [line] = shapesOf(within("spatial.circle(111.19, 0, 10)"), "{}");
  expect(bounds(line!.points)).toEqual([9, 11, -1, 1]);
  const [miles] = shapesOf(within("spatial.circle($radius, $lat, 10, 'Miles')"), '{"radius":69.09,"lat":60}');
  expect(bounds(miles!.points)).toEqual([8, 12, 59, 61]);
  expect(shapesOf(within("spatial.circle($radius, 0, 10)"), "")).toEqual([]);
  expect(shapesOf(within("spatial.circle($radius, 0, 10)"), "not JSON")).toEqual([]);
});

test("a circle over the antimeridian is drawn at both edges", () => {
  const lines = shapesOf(within("spatial.circle(111.19, 0, 180)"), "{}");
  expect(lines.map(({ points }) => bounds(points))).toEqual([
    [-181, -179, -1, 1],
    [179, 181, -1, 1],
  ]);
});

test("well-known text gives its rings and lines, and points give none", () => {
  const of = (text: string) => shapesOf(within(`spatial.wkt('${text}')`), "{}").map(({ points }) => points);
  expect(of("POLYGON((10 59, 11 59, 11 60, 10 59),(10.1 59.1, 10.2 59.1, 10.2 59.2, 10.1 59.1))")).toEqual([
    [
      [10, 59],
      [11, 59],
      [11, 60],
      [10, 59],
    ],
    [
      [10.1, 59.1],
      [10.2, 59.1],
      [10.2, 59.2],
      [10.1, 59.1],
    ],
  ]);
  expect(of("multipolygon z (((0 0 5,1 0 5,1 1 5,0 0 5)),((5 5 5,6 5 5,6 6 5,5 5 5)))")).toHaveLength(2);
  expect(of("GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1), MULTIPOINT((1 2),(3 4)))")).toEqual([
    [
      [0, 0],
      [1, 1],
    ],
  ]);
  expect(bounds(of("Circle(10 0 d=111.19)")[0]!)).toEqual([9, 11, -1, 1]);
  expect(bounds(of("ENVELOPE(-100, 120, 40, -20)")[0]!)).toEqual([-100, 120, -20, 40]);
  expect(of("ENVELOPE(170, -170, 0, -40)").map(bounds)).toEqual([
    [170, 190, -40, 0],
    [-190, -170, -40, 0],
  ]);
  expect(of("POINT(1 2)")).toEqual([]);
  expect(of("nonsense (a b)")).toEqual([]);
});

test("fields, texts and comments of the query are no shapes", () => {
  expect(
    shapesOf("from A where spatial.within(spatial.wkt(Area), spatial.wkt($area))", '{"area":"LINESTRING(0 0, 1 1)"}'),
  ).toHaveLength(1);
  expect(shapesOf("from A where Name = 'spatial.circle(1, 2, 3)' // spatial.circle(1, 2, 3)", "{}")).toEqual([]);
});
