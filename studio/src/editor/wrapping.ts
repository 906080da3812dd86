// Lines that are wrapped go on below their own beginning, and not at the left edge.
import type { Extension, Range } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

/** What is deeper goes on here: there has to be room behind it. */
const INDENT_MAX = 40;

function decorated(view: EditorView): DecorationSet {
  const found: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      const indent = Math.min(INDENT_MAX, /^ */.exec(line.text.slice(0, INDENT_MAX))![0].length);
      if (indent > 0) {
        const style = `text-indent: -${indent}ch; padding-left: calc(6px + ${indent}ch)`;
        found.push(Decoration.line({ attributes: { style } }).range(line.from));
      }
      at = line.to + 1;
    }
  }
  return Decoration.set(found, true);
}

export const wrapping: Extension = [
  EditorView.lineWrapping,
  ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorated(view);
      }
      update(update: ViewUpdate) {
        if (update.docChanged || update.viewportChanged) this.decorations = decorated(update.view);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  ),
];
