// Strings in a document that look like ids of others: a click with Ctrl (or Command) goes there.
import { Decoration, EditorView, MatchDecorator, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import { ID_TEXT } from "./ids";

const matcher = new MatchDecorator({
  regexp: ID_TEXT,
  decorate: (add, from, to, match) => {
    add(
      from + 1,
      to - 1,
      Decoration.mark({ class: "cm-id-link", attributes: { "data-id": match[1]!, title: "Ctrl-click opens the document" } }),
    );
  },
});

export function idLinks(open: (id: string) => void) {
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
