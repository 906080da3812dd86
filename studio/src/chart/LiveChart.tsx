// A chart of the last minutes with axes, drawn on a canvas by uPlot; loaded with the screens that have one.
import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dateTime } from "../format/format";
import styles from "./chart.module.css";

/** One line: its name where there are several, and its values, null where there is none. */
export type Line = { name?: string; values: readonly (number | null)[] };

type Props = {
  title: string;
  /** Seconds since 1970, rising. */
  times: readonly number[];
  /** Up to three. */
  lines: readonly Line[];
  /** A value in words. */
  format: (value: number) => string;
  /** The least that the axis goes up to. */
  topMin: number;
  /** Steps of the axis, if they are not to be round decimal ones. */
  increments?: readonly number[];
};

const HEIGHT = 150;
/** Seconds that are shown: more as there is more to show. */
const SPAN_SECONDS_MIN = 60;
/** The colours of the lines, from `tokens.css`. */
const COLOURS = ["--accent", "--line-2", "--line-3"];

/** Times on the axis, with seconds where they are less than a minute apart. */
function clock(ticks: readonly number[]): string[] {
  const end = (ticks[1] ?? 0) - (ticks[0] ?? 0) < 60 ? 19 : 16;
  return ticks.map((seconds) => dateTime(new Date(seconds * 1000).toISOString()).slice(11, end));
}

export default function LiveChart({ title, times, lines, format, topMin, increments }: Props) {
  const { ref: sized, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const scheme = useComputedColorScheme("light");
  const lineCount = lines.length;
  const now = useRef({ times, lines, format, topMin });
  useEffect(() => {
    now.current = { times, lines, format, topMin };
  });

  useEffect(() => {
    if (width === 0) return;
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: of("--ink-soft"),
      font: "12px sans-serif",
      grid: { stroke: of("--line-soft"), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        // Half of a label of the time stands right of the last point.
        padding: [8, 32, 0, 0],
        scales: {
          x: {
            range: () => {
              const { times: shown } = now.current;
              const end = shown.at(-1) ?? Date.now() / 1000;
              return [Math.min(shown[0] ?? end, end - SPAN_SECONDS_MIN), end];
            },
          },
          y: { range: (_, __, top) => [0, Math.max(now.current.topMin, (top || 0) * 1.15)] },
        },
        axes: [
          { ...axis, space: 70, size: 28, values: (_, ticks) => clock(ticks) },
          {
            ...axis,
            size: 62,
            ...(increments && { incrs: [...increments] }),
            values: (_, ticks) => ticks.map((tick) => now.current.format(tick)),
          },
        ],
        series: [
          {},
          ...COLOURS.slice(0, lineCount).map((colour) => ({
            stroke: of(colour),
            width: 1.5,
            ...(lineCount === 1 && { fill: of("--accent-soft") }),
            spanGaps: false,
            points: { show: false },
          })),
        ],
      },
      dataOf(now.current.times, now.current.lines),
      box.current!,
    );
    chart.current = made;
    return () => made.destroy();
    // Colours are read when it is made.
  }, [width, scheme, increments, lineCount]);
  useEffect(() => {
    chart.current?.setData(dataOf(times, lines));
  }, [times, lines]);

  const latest = lines.map(({ name, values }, at) => {
    const last = values.at(-1);
    return { name, colour: COLOURS[at]!, value: last === undefined || last === null ? "–" : format(last) };
  });
  const words = latest.map(({ name, value }) => `${name ? `${name} ` : ""}${value === "–" ? "not known" : value}`).join(", ");
  return (
    <section className={styles.chart} aria-label={title}>
      <h2 className={`${styles.title} cut`}>{title}</h2>
      <p className={styles.latest}>
        {latest.map(({ name, colour, value }) => (
          <b key={colour} className="number">
            {name && (
              <span className={styles.key}>
                <i style={{ background: `var(${colour})` }} />
                {name}{" "}
              </span>
            )}
            {value}
          </b>
        ))}
      </p>
      <div ref={sized} style={{ minHeight: HEIGHT }}>
        <div ref={box} role="img" aria-label={`${title} in the last four minutes, now ${words}`} />
      </div>
    </section>
  );
}

function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}
