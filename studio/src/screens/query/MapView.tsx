// Results on a map: the outline of the land is in the application (Natural Earth, public domain), nothing is fetched.
import { ActionIcon } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import atlas from "world-atlas/countries-110m.json";
import { run } from "../../api/queries";
import { count, counted } from "../../format/format";
import { Failed, Loading } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { pointsOf, type Point } from "./points";
import type { Submitted } from "./Results";
import styles from "./query.module.css";

/** Results that are asked for places. */
const COUNT_MAX = 20_000;
const STEP_COUNT = 5000;
const ZOOM_MAX = 400;
/** How near the pointer must be to a point, in pixels. */
const REACH = 9;

const topology = atlas as unknown as Topology;
const shapes = feature(topology, topology.objects["land"] as GeometryCollection).features;
/** Lines between countries, of longitude and latitude. */
const borders = mesh(topology, topology.objects["countries"] as GeometryCollection, (one, other) => one !== other).coordinates as [
  number,
  number,
][][];
/** Outlines of the land. */
const rings: [number, number][][] = shapes.flatMap(({ geometry }) =>
  geometry.type === "Polygon"
    ? (geometry.coordinates as [number, number][][])
    : geometry.type === "MultiPolygon"
      ? (geometry.coordinates as [number, number][][][]).flat()
      : [],
);

/** The middle of the view in degrees, pixels per degree of latitude, and how much shorter one of longitude is there. */
type View = { longitude: number; latitude: number; scale: number; aspect: number };

export default function MapView({ database, submitted, total }: { database: string; submitted: Submitted; total: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["points", database, submitted],
    queryFn: async ({ signal }) => {
      const points: Point[] = [];
      for (let start = 0; start < Math.min(total, COUNT_MAX); start += STEP_COUNT) {
        points.push(...pointsOf((await run(database, { ...submitted, start, pageSize: STEP_COUNT }, signal)).results));
      }
      return points;
    },
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  if (error) return <Failed what="The places cannot be read" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="places" />;
  return <Canvas database={database} points={data} left={Math.max(0, total - COUNT_MAX)} />;
}

function Canvas({ database, points, left }: { database: string; points: readonly Point[]; left: number }) {
  const navigate = useNavigate();
  const { ref: box, width, height } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [moved, setView] = useState<View>();
  const [near, setNear] = useState<{ point: Point; x: number; y: number }>();
  const drag = useRef<{ x: number; y: number; view: View }>(undefined);
  const fitted = useMemo(() => fit(points, width, height), [points, width, height]);
  const view = moved ?? fitted;

  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const draw = () => paint(element, points, view, width, height);
    draw();
    // Colours follow light and dark.
    const watch = new MutationObserver(draw);
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-mantine-color-scheme"] });
    return () => watch.disconnect();
  }, [points, view, width, height]);

  const zoom = (factor: number, at?: { x: number; y: number }) => {
    const scale = Math.min(ZOOM_MAX * fitted.scale, Math.max(width / 720, view.scale * factor));
    // What is under the pointer stays there.
    const [dx, dy] = at ? [at.x - width / 2, at.y - height / 2] : [0, 0];
    const { aspect } = view;
    setView({
      scale,
      aspect,
      longitude: view.longitude + (dx / view.scale - dx / scale) / aspect,
      latitude: view.latitude - dy / view.scale + dy / scale,
    });
  };
  const pan = (dx: number, dy: number) =>
    setView({ ...view, longitude: view.longitude + dx / view.scale / view.aspect, latitude: view.latitude - dy / view.scale });
  const onKeyDown = (event: KeyboardEvent) => {
    const actions: Record<string, () => void> = {
      "+": () => zoom(1.5),
      "-": () => zoom(1 / 1.5),
      "0": () => setView(undefined),
      ArrowLeft: () => pan(-60, 0),
      ArrowRight: () => pan(60, 0),
      ArrowUp: () => pan(0, -60),
      ArrowDown: () => pan(0, 60),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>) => {
    const { left: x0, top: y0 } = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - x0, event.clientY - y0];
    if (drag.current) {
      const { view: from } = drag.current;
      setView({
        ...from,
        longitude: from.longitude - (event.clientX - drag.current.x) / from.scale / from.aspect,
        latitude: from.latitude + (event.clientY - drag.current.y) / from.scale,
      });
      setNear(undefined);
      return;
    }
    let best = REACH * REACH;
    let found: typeof near;
    for (const point of points) {
      const [px, py] = project(point.longitude, point.latitude, view, width, height);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < best) {
        best = distance;
        found = { point, x: px, y: py };
      }
    }
    setNear(found);
  };
  // React listens to the wheel passively, and then the page would scroll.
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, { x: event.offsetX, y: event.offsetY });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  });

  return (
    <div ref={box} className={styles.map}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`Map with ${counted(points.length, "place")}. Arrow keys move it, plus and minus zoom, 0 shows all.`}
        style={{ width, height, cursor: drag.current ? "grabbing" : near ? "pointer" : "grab" }}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { x: event.clientX, y: event.clientY, view };
        }}
        onPointerMove={onPointerMove}
        onPointerUp={(event) => {
          const start = drag.current;
          drag.current = undefined;
          const isClick = start && Math.abs(event.clientX - start.x) + Math.abs(event.clientY - start.y) < 4;
          if (isClick && near?.point.id !== undefined)
            void navigate({ to: "/databases/$database/document", params: { database }, search: { id: near.point.id } });
        }}
        onPointerLeave={() => setNear(undefined)}
      />
      <div className={styles.mapTools}>
        <ActionIcon variant="default" aria-label="Zoom in" onClick={() => zoom(1.5)}>
          <Icon name="plus" size={14} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label="Zoom out" onClick={() => zoom(1 / 1.5)}>
          <Icon name="minus" size={14} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label="Show all places" onClick={() => setView(undefined)}>
          <Icon name="expand" size={14} />
        </ActionIcon>
      </div>
      <p
        className={styles.mapNote}
      >{`${counted(points.length, "place")}${left > 0 ? `, ${count(left)} more results are not asked` : ""} · land: Natural Earth`}</p>
      {near && (
        <div className={styles.mapTip} style={{ left: Math.min(near.x + 12, width - 180), top: Math.max(4, near.y - 34) }}>
          <b>{near.point.label}</b>
          {near.point.id !== undefined && <span>{near.point.id}</span>}
        </div>
      )}
    </div>
  );
}

function project(longitude: number, latitude: number, view: View, width: number, height: number): [number, number] {
  return [
    width / 2 + (longitude - view.longitude) * view.scale * view.aspect,
    height / 2 - (latitude - view.latitude) * view.scale,
  ];
}

/** The view that has all points in it, with some land around. */
function fit(points: readonly Point[], width: number, height: number): View {
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

function paint(canvas: HTMLCanvasElement, points: readonly Point[], view: View, width: number, height: number) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const colour = getComputedStyle(document.documentElement);
  const of = (name: string) => colour.getPropertyValue(name).trim();
  context.scale(ratio, ratio);
  context.fillStyle = of("--map-sea");
  context.fillRect(0, 0, width, height);
  const trace = (lines: readonly [number, number][][]) => {
    context.beginPath();
    for (const line of lines) {
      line.forEach(([longitude, latitude], index) => {
        const [x, y] = project(longitude, latitude, view, width, height);
        if (index === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      });
    }
  };
  trace(rings);
  context.fillStyle = of("--panel");
  context.fill("evenodd");
  context.lineWidth = 1.2;
  context.strokeStyle = of("--map-line");
  context.stroke();
  trace(borders);
  context.lineWidth = 0.8;
  context.stroke();
  const radius = points.length > 5000 ? 1.4 : points.length > 500 ? 2.2 : 3.6;
  context.fillStyle = of("--accent");
  context.globalAlpha = points.length > 500 ? 0.55 : 0.8;
  context.beginPath();
  for (const { longitude, latitude } of points) {
    const [x, y] = project(longitude, latitude, view, width, height);
    if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fill();
}
