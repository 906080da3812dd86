// Lines between boxes, drawn behind them. They are decoration: what belongs together stands in the lists, too.
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import styles from "./groups.module.css";

export type Connection = { from: string; to: string };

type Drawn = { width: number; height: number; paths: string[] };

/** Lines from the right side of boxes to the left side of others, by their `data-node`. */
export function Lines({ frame, links }: { frame: RefObject<HTMLElement | null>; links: readonly Connection[] }) {
  const [drawn, setDrawn] = useState<Drawn>({ width: 0, height: 0, paths: [] });
  const draw = () => {
    const root = frame.current;
    if (!root) return;
    const origin = root.getBoundingClientRect();
    const boxes = new Map<string, DOMRect>();
    for (const box of root.querySelectorAll<HTMLElement>("[data-node]")) {
      boxes.set(box.dataset["node"]!, box.getBoundingClientRect());
    }
    const paths = links.flatMap(({ from, to }) => {
      const [left, right] = [boxes.get(from), boxes.get(to)];
      if (!left || !right) return [];
      const [x1, y1] = [left.right - origin.left, left.top + left.height / 2 - origin.top];
      const [x2, y2] = [right.left - origin.left, right.top + right.height / 2 - origin.top];
      // Stacked, on a narrow screen: the lists say it.
      if (x2 <= x1) return [];
      const middle = (x1 + x2) / 2;
      return [`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`];
    });
    const next = { width: origin.width, height: origin.height, paths };
    setDrawn((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
  };
  const latest = useRef(draw);
  // After every change of what is shown; what has the same places as before draws nothing anew.
  useLayoutEffect(() => {
    latest.current = draw;
    draw();
  });
  useEffect(() => {
    const root = frame.current;
    if (!root) return;
    // Boxes that open change the size of the frame.
    const observer = new ResizeObserver(() => latest.current());
    observer.observe(root);
    return () => observer.disconnect();
  }, [frame]);
  return (
    <svg className={styles.lines} width={drawn.width} height={drawn.height} aria-hidden="true">
      {drawn.paths.map((path, at) => (
        <path key={at} d={path} />
      ))}
    </svg>
  );
}
