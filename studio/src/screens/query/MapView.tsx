// Results on a map: the outline of the land is in the application (Natural Earth, public domain), nothing is fetched.
import { ActionIcon, Select } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { Answer } from "../../api/queries";
import { count, counted, glimpse } from "../../format/format";
import { useRemembered } from "../../shell/remembered";
import { Failed, Loading } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { colouring, colourPaths } from "./colours";
import { fit, paint, project, type Picture, type View } from "./mapPaint";
import { pointsOf, type Point } from "./points";
import type { Submitted } from "./Results";
import { shapesOf } from "./shapes";
import { inSteps } from "./steps";
import styles from "./map.module.css";

/** Results that are asked for places. */
const COUNT_MAX = 100_000;
const ZOOM_MAX = 400;
/** Results in which fields for colours are looked for. */
const SAMPLE_COUNT = 200;
/** How near the pointer must be to a point, in pixels. */
const REACH = 9;

type Place = { x: number; y: number };

/** The middle of two fingers and how far they are apart; of one, where it is. */
function middleOf(places: readonly Place[]): Place & { spread: number } {
  const [one, other] = [places[0]!, places[1] ?? places[0]!];
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, spread: Math.hypot(one.x - other.x, one.y - other.y) };
}

type Props = { database: string; submitted: Submitted; answer: Answer };

export default function MapView({ database, submitted, answer: { total, resultSize } }: Props) {
  const [done, setDone] = useState(0);
  const { data, error, refetch } = useQuery({
    queryKey: ["points", database, submitted],
    queryFn: async ({ signal }) => {
      const points: Point[] = [];
      let seen = 0;
      let paths: string[] | undefined;
      for await (const { results } of inSteps(database, submitted, resultSize, COUNT_MAX, signal)) {
        paths ??= colourPaths(results.slice(0, SAMPLE_COUNT));
        for (const point of pointsOf(results, paths)) points.push(point);
        setDone((seen += results.length));
      }
      return { points, paths: paths ?? [] };
    },
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  if (error) return <Failed what="The places cannot be read" error={error} retry={() => void refetch()} />;
  if (!data)
    return <Loading what={done === 0 ? "places" : `places: ${count(done)} of ${count(Math.min(total, COUNT_MAX))} results`} />;
  return <Coloured database={database} submitted={submitted} points={data.points} paths={data.paths} total={total} />;
}

type ColouredProps = {
  database: string;
  submitted: Submitted;
  points: readonly Point[];
  /** Fields whose values the points have, in their order. */
  paths: readonly string[];
  total: number;
};

/** The map below the choice of a field that gives the colours, and what each colour means. */
function Coloured({ database, submitted, points, paths, total }: ColouredProps) {
  const [chosen, setChosen] = useRemembered(`map.${database}`, "");
  const at = paths.indexOf(chosen);
  const colours = useMemo(() => (at < 0 ? undefined : colouring(points.map(({ values }) => values[at]))), [points, at]);
  const shapes = useMemo(() => shapesOf(submitted.text, submitted.parameters), [submitted]);
  return (
    <>
      {paths.length > 0 && (
        <div className={styles.mapBar}>
          <Select
            aria-label="Colour by"
            leftSection={<span className={styles.by}>Colour by</span>}
            leftSectionWidth={74}
            data={[{ value: "", label: "Nothing" }, ...paths.map((path) => ({ value: path, label: path }))]}
            value={at < 0 ? "" : chosen}
            onChange={(value) => setChosen(value ?? "")}
            w={230}
          />
          {colours && (
            <ul className={styles.legend} aria-label={`Colours of ${chosen}`}>
              {colours.classes.map(({ label, colour, count: number }) => (
                <li key={`${colour} ${label}`}>
                  <i style={{ background: `var(${colour})` }} />
                  <span className="cut" title={label}>
                    {label}
                  </span>
                  <span className="soft number">{count(number)}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <Canvas
        database={database}
        points={points}
        shapes={shapes}
        colours={colours}
        field={at < 0 ? undefined : { name: chosen, at }}
        total={total}
      />
    </>
  );
}

type CanvasProps = Picture & {
  database: string;
  /** The field that gives the colours. */
  field: { name: string; at: number } | undefined;
  total: number;
};

function Canvas({ database, points, shapes, colours, field, total }: CanvasProps) {
  const navigate = useNavigate();
  const { ref: box, width, height } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [moved, setView] = useState<View>();
  const [near, setNear] = useState<{ point: Point; x: number; y: number }>();
  /** Where each finger, or the mouse, is. */
  const fingers = useRef(new Map<number, Place>());
  const held = useRef<Place & { spread: number; view: View }>(undefined);
  const pressed = useRef<Place>(undefined);
  const fitted = useMemo(() => fit(points, shapes, width, height), [points, shapes, width, height]);
  const view = moved ?? fitted;

  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const draw = () => paint(element, { points, shapes, colours }, view, width, height);
    draw();
    // Colours follow light and dark.
    const watch = new MutationObserver(draw);
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-mantine-color-scheme"] });
    return () => watch.disconnect();
  }, [points, shapes, colours, view, width, height]);

  /** What was at one place of the view comes to another, and the scale is multiplied. */
  const zoomed = (from: View, factor: number, at: { x: number; y: number }, to = at): View => {
    const scale = Math.min(ZOOM_MAX * fitted.scale, Math.max(width / 720, from.scale * factor));
    const { aspect } = from;
    const longitude = from.longitude + (at.x - width / 2) / from.scale / aspect;
    const latitude = from.latitude - (at.y - height / 2) / from.scale;
    return {
      scale,
      aspect,
      longitude: longitude - (to.x - width / 2) / scale / aspect,
      latitude: latitude + (to.y - height / 2) / scale,
    };
  };
  const zoom = (factor: number, at = { x: width / 2, y: height / 2 }) => setView(zoomed(view, factor, at));
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
  const placeOf = (event: PointerEvent<HTMLCanvasElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  /** From here on fingers move what is seen: one drags, two pinch. */
  const grasp = () => {
    const places = [...fingers.current.values()];
    held.current = places.length > 0 ? { view, ...middleOf(places) } : undefined;
  };
  const release = (pointer: number) => {
    fingers.current.delete(pointer);
    pressed.current = undefined;
    grasp();
  };
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>) => {
    const { x, y } = placeOf(event);
    if (held.current && fingers.current.has(event.pointerId)) {
      fingers.current.set(event.pointerId, { x, y });
      const now = middleOf([...fingers.current.values()]);
      const { view: from, spread, ...at } = held.current;
      setView(zoomed(from, spread > 0 ? now.spread / spread : 1, at, now));
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
  const latestZoom = useRef(zoom);
  useEffect(() => {
    latestZoom.current = zoom;
  });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      latestZoom.current(event.deltaY < 0 ? 1.25 : 0.8, { x: event.offsetX, y: event.offsetY });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const seen =
    counted(points.length, "place") + (shapes.length > 0 ? ` and ${counted(shapes.length, "outline")} of the query` : "");
  return (
    <div ref={box} className={styles.map}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`Map with ${seen}. Arrow keys move it, plus and minus zoom, 0 shows all.`}
        style={{ width, height, cursor: held.current ? "grabbing" : near ? "pointer" : "grab" }}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          fingers.current.set(event.pointerId, placeOf(event));
          pressed.current = fingers.current.size === 1 ? placeOf(event) : undefined;
          grasp();
        }}
        onPointerMove={onPointerMove}
        onPointerUp={(event) => {
          const [from, to] = [pressed.current, placeOf(event)];
          release(event.pointerId);
          const isClick = from && Math.abs(to.x - from.x) + Math.abs(to.y - from.y) < 4;
          if (isClick && near?.point.id !== undefined)
            void navigate({ to: "/databases/$database/document", params: { database }, search: { id: near.point.id } });
        }}
        onPointerCancel={(event) => release(event.pointerId)}
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
      <p className={styles.mapNote}>
        {total > COUNT_MAX && <b>{`Only the first ${count(COUNT_MAX)} of ${count(total)} results. `}</b>}
        {`${seen} · land: Natural Earth`}
      </p>
      {near && (
        <div className={styles.mapTip} style={{ left: Math.min(near.x + 12, width - 180), top: Math.max(4, near.y - 34) }}>
          <b>{near.point.label}</b>
          {near.point.id !== undefined && <span>{near.point.id}</span>}
          {field && <span>{`${field.name}: ${glimpse(near.point.values[field.at] ?? "no value")}`}</span>}
        </div>
      )}
    </div>
  );
}
