// Lines that are wrapped go on below their own beginning, and not at the left edge.
import type { Extension, Range } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

/** What is deeper than this part of the editor's width goes on there: there has to be room behind it. */
const INDENT_SHARE_MAX = 0.5;

/** `indentMax`: in characters. */
function decorated(view: EditorView, indentMax: number): DecorationSet {
  const found: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      const indent = /^ */.exec(line.text.slice(0, indentMax))![0].length;
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
      private indentMax: number;
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.indentMax = indentMaxOf(view);
        this.decorations = decorated(view, this.indentMax);
      }
      update(update: ViewUpdate) {
        const before = this.indentMax;
        if (update.geometryChanged) this.indentMax = indentMaxOf(update.view);
        if (!update.docChanged && !update.viewportChanged && this.indentMax === before) return;
        this.decorations = decorated(update.view, this.indentMax);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  ),
];

function indentMaxOf(view: EditorView): number {
  return Math.floor((view.scrollDOM.clientWidth * INDENT_SHARE_MAX) / view.defaultCharacterWidth);
}
