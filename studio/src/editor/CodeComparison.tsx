// Two texts side by side with what differs: on the left the stored one, on the right ours, which can be changed. On a narrow screen
// texts that are only looked at stand in one column, removed lines above those that replace them.
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { useMediaQuery } from "@mantine/hooks";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { basics, spoken, type Language } from "./CodeEditor";

/** Without `onChange` both are only looked at. `labels`: of the left and the right side, for readers. */
export type ComparisonProps = {
  theirs: string;
  mine: string;
  language?: Language;
  onChange?: (mine: string) => void;
  labels?: readonly [string, string];
};

const LABELS = ["Stored by somebody else", "Your text"] as const;

export default function CodeComparison({
  theirs,
  mine,
  language = "json",
  onChange,
  labels: [left, right] = LABELS,
}: ComparisonProps) {
  const box = useRef<HTMLDivElement>(null);
  const told = useRef(onChange);
  const isReadOnly = onChange === undefined;
  const isOneColumn = (useMediaQuery("(max-width: 700px)") ?? false) && isReadOnly;
  useEffect(() => {
    told.current = onChange;
  });
  useEffect(() => {
    if (isOneColumn) {
      const only = new EditorView({
        parent: box.current!,
        doc: mine,
        extensions: [
          basics(),
          spoken(language),
          EditorState.readOnly.of(true),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": `${left} and ${right}`, tabindex: "0" }),
          unifiedMergeView({ original: theirs, mergeControls: false, collapseUnchanged: {} }),
        ],
      });
      return () => only.destroy();
    }
    const view = new MergeView({
      parent: box.current!,
      a: {
        doc: theirs,
        extensions: [
          basics(),
          spoken(language),
          EditorState.readOnly.of(true),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": left, tabindex: "0" }),
        ],
      },
      b: {
        doc: mine,
        extensions: [
          basics(),
          spoken(language),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": right, tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) told.current?.(update.state.doc.toString());
          }),
          EditorState.readOnly.of(isReadOnly),
        ],
      },
      ...(isReadOnly ? { collapseUnchanged: {} } : { revertControls: "a-to-b" as const }),
      renderRevertControl: () => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "→";
        button.title = "Take this over";
        button.setAttribute("aria-label", "Take this over");
        return button;
      },
    });
    return () => view.destroy();
    // `mine` is where it begins; from then on it is what was typed.
  }, [theirs, language, isOneColumn]);
  return <div ref={box} className="editor-comparison" />;
}
