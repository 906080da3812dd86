// The icons: lines of 1.6 on a grid of 24, drawn for the studio. They are decoration; what they stand for is said beside them.
import type { CSSProperties } from "react";

const PATHS = {
  database: "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zm0 0v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  documents: "M7 3h7l5 5v13H7zM14 3v5h5M10 13h6M10 17h4",
  query: "M4 5l6 7-6 7M12 19h8",
  index: "M4 6h16M4 12h11M4 18h7M17 15v6M14 18h6",
  statistics: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  counter: "M5 5v14M9.5 5v14M14 5v14M18.5 5v14M3 16L21 8",
  exchange: "M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4",
  unique: "M3 8.5h18M3 15.5h18M9.5 4l-3 16M17.5 4l-3 16",
  subscription: "M4 13v7h16v-7h-5a3 3 0 0 1-6 0zM12 3v7M8.5 7L12 10.5 15.5 7",
  feed: "M3 12h4l3-7 4 14 3-7h4",
  history: "M4 12a8 8 0 1 0 2.3-5.7M4 4v5h5M12 8v4l3 2",
  operations: "M12 7v5l3 2M12 3a9 9 0 1 0 9 9M16 3.9A9 9 0 0 1 20.1 8",
  server: "M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01M12 7.5h5M12 16.5h5",
  start: "M6 4l13 8-13 8z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  expand: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14M10 11v6M14 11v6",
  dots: "M5 12h.01M12 12h.01M19 12h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  power: "M12 3v9M6.5 7a8 8 0 1 0 11 0",
  refresh: "M20 11a8 8 0 1 0-2.3 6M20 4v7h-7",
  filter: "M4 5h16l-6.5 8v6l-3-2v-4z",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  copy: "M9 9h11v12H9zM5 15H4V3h11v2",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  up: "M5 15l7-7 7 7",
  down: "M5 9l7 7 7-7",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
  upload: "M12 16V4M7 8l5-5 5 5M4 20h16",
  format: "M4 6h16M8 11h12M8 16h8M4 20h16",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  pause: "M8 5v14M16 5v14",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  shield: "M12 3l8 3v6c0 4.5-3.2 7.8-8 9-4.8-1.2-8-4.5-8-9V6z",
  stop: "M6 6h12v12H6z",
  star: "M12 4l2.5 5.2 5.6.7-4.1 3.9 1.1 5.6-5.1-2.8-5.1 2.8 1.1-5.6-4.1-3.9 5.6-.7z",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  bell: "M6 16v-5a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0",
  advice: "M9 17.5h6M10 20.5h4M8.5 14.5a6 6 0 1 1 7 0c-.6.5-.9 1-.9 1.8V17.5H9.4v-1.2c0-.8-.3-1.3-.9-1.8z",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.3a2.6 2.6 0 1 1 3.6 2.5c-.7.3-1.1.8-1.1 1.5v.6M12 17h.01",
  info: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon of `size` pixels in the colour of the text. */
export function Icon({ name, size = 16, style }: { name: IconName; size?: number; style?: CSSProperties }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" ? 2.6 : 1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      style={{ flex: "none", ...style }}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark: a rook that looks up from its nest. */
export function Mark({ size = 24 }: { size?: number }) {
  return <img src="./mark.svg" width={size} height={size} alt="" style={{ flex: "none", display: "block" }} />;
}
