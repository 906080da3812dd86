// A small line of the last minutes, without axes: the number beside it has the value.
import styles from "./spark.module.css";

/** `values`: the oldest first; `capacity`: how many fill the width. */
export function Spark({
  values,
  label,
  capacity = 60,
  width = 120,
  height = 28,
}: {
  values: readonly number[];
  label: string;
  capacity?: number;
  width?: number;
  height?: number;
}) {
  const shown = values.slice(-capacity);
  // A line that lies on its own ground is calmer than noise that is blown up: 1 per second is the least full scale.
  const top = Math.max(1, ...shown);
  const step = width / (capacity - 1);
  const offset = width - (shown.length - 1) * step;
  const points = shown.map(
    (value, index) => `${(offset + index * step).toFixed(1)},${(height - 1.5 - (value / top) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg className={styles.spark} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <line className={styles.ground} x1="0" x2={width} y1={height - 1} y2={height - 1} />
      {points.length > 1 && (
        <>
          <polygon className={styles.area} points={`${offset.toFixed(1)},${height} ${points.join(" ")} ${width},${height}`} />
          <polyline className={styles.line} points={points.join(" ")} />
        </>
      )}
    </svg>
  );
}
