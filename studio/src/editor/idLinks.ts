// Strings in a document that look like ids of others: a click with Ctrl (or Command) goes there, and so does Ctrl+Enter within one.
import { Decoration, EditorView, keymap, MatchDecorator, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import { Prec, type Extension } from "@codemirror/state";
import { ID_TEXT } from "./ids";

const matcher = new MatchDecorator({
  regexp: ID_TEXT,
  decorate: (add, from, to, match) => {
    add(
      from + 1,
      to - 1,
      Decoration.mark({
        class: "cm-id-link",
        attributes: { "data-id": match[1]!, title: "Ctrl-click or Ctrl+Enter opens the document" },
      }),
    );
  },
});

/** The id in which the cursor stands. */
function idAt(view: EditorView): string | undefined {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  for (const match of line.text.matchAll(ID_TEXT)) {
    const from = line.from + match.index;
    if (head >= from && head <= from + match[0].length) return match[1];
  }
  return undefined;
}

export function idLinks(open: (id: string) => void): Extension {
  const byKey = Prec.high(
    keymap.of([
      {
        key: "Mod-Enter",
        run: (view) => {
          const id = idAt(view);
          if (id !== undefined) open(id);
          return id !== undefined;
        },
      },
    ]),
  );
  return [byKey, byClick(open)];
}

function byClick(open: (id: string) => void) {
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = matcher.createDeco(view);
      }
      update(update: ViewUpdate) {
        this.decorations = matcher.updateDeco(update, this.decorations);
      }
    },
    {
      decorations: (plugin) => plugin.decorations,
      eventHandlers: {
        mousedown: (event) => {
          const link = (event.target as HTMLElement).closest<HTMLElement>("[data-id]");
          if (!link || !(event.ctrlKey || event.metaKey)) return false;
          open(link.dataset["id"]!);
          return true;
        },
      },
    },
  );
}
