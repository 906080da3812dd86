// The outline of the land and the borders between countries, as lines that do not jump from one edge of the map to the other.
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import atlas from "world-atlas/countries-110m.json";
import { unwrapped, type Line } from "./unwrapped";

const topology = atlas as unknown as Topology;
const shapes = feature(topology, topology.objects["land"] as GeometryCollection).features;

/** Outlines of the land; each is a ring. */
export const OUTLINES: readonly Line[] = shapes
  .flatMap(({ geometry }) =>
    geometry.type === "Polygon"
      ? (geometry.coordinates as [number, number][][])
      : geometry.type === "MultiPolygon"
        ? (geometry.coordinates as [number, number][][][]).flat()
        : [],
  )
  .flatMap((ring) => unwrapped(ring));

/** Lines between countries. */
export const BORDERS: readonly Line[] = (
  mesh(topology, topology.objects["countries"] as GeometryCollection, (one, other) => one !== other).coordinates as [
    number,
    number,
  ][][]
).flatMap((line) => unwrapped(line));
