// The editor as screens use it: a place that is held until it is loaded.
import { lazy, Suspense } from "react";
import type { EditorProps } from "./CodeEditor";
import type { ComparisonProps } from "./CodeComparison";
import "./editor.css";

const CodeEditor = lazy(() => import("./CodeEditor"));
const CodeComparison = lazy(() => import("./CodeComparison"));

export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<div className={props.isFitted ? "editor-box fitted" : "editor-box"} aria-busy="true" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}

export function Comparison(props: ComparisonProps) {
  return (
    <Suspense fallback={<div className="editor-box" aria-busy="true" />}>
      <CodeComparison {...props} />
    </Suspense>
  );
}
