// An editor of code: JSON, RQL, JavaScript, C#. It is big, so it is loaded when it is needed first (editor/Editor.tsx).
import {
  autocompletion,
  closeCompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type CompletionSource,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { linter, lintGutter, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder as placeholderOf,
} from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { JsonError, scan } from "../json/scan";
import { isSame, type Content } from "./content";
import { csharp, go, java, python, rql, shell } from "./languages";
import { idLinks } from "./idLinks";
import { look } from "./look";
import { wrapping } from "./wrapping";

export type Language = "json" | "rql" | "javascript" | "csharp" | "java" | "go" | "python" | "shell";

/** A mistake at a place: line and column count from 1. */
export type Mistake = { line: number; column: number; message: string };

export type EditorProps = {
  /** What a screen reader calls it. */
  label: string;
  language: Language;
  value: Content;
  onChange?: (value: string) => void;
  /** The same without making a string of it, for what may be large. */
  onText?: (text: Text) => void;
  isReadOnly?: boolean;
  /** Ctrl-S. */
  onSave?: (() => void) | undefined;
  /** Ctrl-Enter. */
  onRun?: (() => void) | undefined;
  complete?: CompletionSource | undefined;
  mistake?: Mistake | undefined;
  /** Opens a document whose id was clicked with Ctrl. */
  onId?: ((id: string) => void) | undefined;
  isFocused?: boolean;
  /** Shown while it is empty. */
  placeholder?: string;
  /** As high as its text, in place of all the room there is. */
  isFitted?: boolean;
};

const LANGUAGES: Record<Language, () => Extension> = {
  json,
  rql,
  javascript: () => javascript(),
  csharp,
  java,
  go,
  python,
  shell,
};

/** What all editors have, also those side by side; without their language. */
export function basics(): Extension {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    foldGutter({
      markerDOM: (isOpen) => {
        const marker = document.createElement("span");
        marker.className = isOpen ? "cm-fold-open" : "cm-fold-closed";
        marker.textContent = isOpen ? "▾" : "▸";
        return marker;
      },
    }),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    indentOnInput(),
    indentUnit.of("    "),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    // At the bottom messages would lie over it.
    search({ top: true }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap]),
    look,
  ];
}

/** A language alone, for what is not written but compared. */
export const spoken = (language: Language): Extension => LANGUAGES[language]();

/** What comes with a language. */
function speaking(language: Language): Extension {
  return [
    LANGUAGES[language](),
    // Escape, then Tab leaves the editor; only JSON and code are indented by it.
    language === "rql" ? [] : keymap.of([indentWithTab]),
    language === "json" ? [linter(jsonMistakes, { delay: 250 }), lintGutter()] : [],
  ];
}

const named = (label: string, language: Language): Extension => {
  const attributes = { "aria-label": label, tabindex: "0" };
  // As long as Tab indents, how one leaves is said: to all on the focused editor (editor.css), and to screen readers.
  return language === "rql"
    ? EditorView.contentAttributes.of(attributes)
    : [
        EditorView.contentAttributes.of({ ...attributes, "aria-description": LEAVING }),
        EditorView.editorAttributes.of({ "data-hint": LEAVING }),
      ];
};

const LEAVING = "Escape, then Tab leaves the editor";

export default function CodeEditor(props: EditorProps) {
  const { label, language, value, isReadOnly = false, isFitted = false, complete, mistake } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const now = useRef(props);
  // What may change while one types: the editor, its focus and its history stay.
  const parts = useRef({
    language: new Compartment(),
    label: new Compartment(),
    readOnly: new Compartment(),
    complete: new Compartment(),
    mistakes: new Compartment(),
  });
  useLayoutEffect(() => {
    now.current = props;
  });

  useEffect(() => {
    const { language: speech, label: name, readOnly, complete: completing, mistakes } = parts.current;
    const commands = Prec.highest(
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: () => (now.current.onSave?.(), now.current.onSave !== undefined) },
        {
          key: "Mod-Enter",
          preventDefault: true,
          run: (editor) => {
            // The list would stay over the results.
            closeCompletion(editor);
            now.current.onRun?.();
            return now.current.onRun !== undefined;
          },
        },
      ]),
    );
    const made = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: now.current.value,
        extensions: [
          commands,
          basics(),
          speech.of([]),
          name.of([]),
          readOnly.of([]),
          completing.of([]),
          mistakes.of([]),
          now.current.placeholder === undefined ? [] : placeholderOf(now.current.placeholder),
          now.current.onId ? idLinks((id) => now.current.onId?.(id)) : [],
          wrapping,
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            if (now.current.onChange) now.current.onChange(update.state.doc.toString());
            now.current.onText?.(update.state.doc);
          }),
        ],
      }),
    });
    view.current = made;
    if (now.current.isFocused) made.focus();
    return () => made.destroy();
    // The rest is brought in by the effects below.
  }, []);

  // With the rendering, not after it: a key that was pressed in between would be taken back.
  useLayoutEffect(() => {
    const editor = view.current;
    if (!editor) return;
    // As the editor has it: its lines end with \n, whatever they end with in a string.
    const wanted = typeof value === "string" ? editor.state.toText(value) : value;
    if (!isSame(editor.state.doc, wanted)) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    }
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.language.reconfigure(speaking(language)) });
  }, [language]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.label.reconfigure(named(label, language)) });
  }, [label, language]);
  useEffect(() => {
    const effects = parts.current.readOnly.reconfigure([EditorState.readOnly.of(isReadOnly), EditorView.editable.of(true)]);
    view.current?.dispatch({ effects });
  }, [isReadOnly]);
  useEffect(() => {
    const effects = parts.current.complete.reconfigure(complete ? autocompletion({ override: [complete], icons: false }) : []);
    view.current?.dispatch({ effects });
  }, [complete]);
  useEffect(() => {
    const effects = parts.current.mistakes.reconfigure(
      mistake ? [linter((editor) => [diagnosticOf(editor, mistake)], { delay: 0 })] : [],
    );
    view.current?.dispatch({ effects });
  }, [mistake]);

  return <div ref={box} className={isFitted ? "editor-box fitted" : "editor-box"} />;
}

/** What is longer is not checked while one types: saving tells its mistake. */
const CHECKED_LENGTH_MAX = 1_000_000;

function jsonMistakes(editor: EditorView): Diagnostic[] {
  if (editor.state.doc.length > CHECKED_LENGTH_MAX) return [];
  const text = editor.state.doc.toString();
  // Nothing was written yet.
  if (text.trim() === "") return [];
  try {
    scan(text);
    return [];
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const from = Math.min(error.at, text.length);
    return [{ from, to: Math.min(from + 1, text.length), severity: "error", message: error.reason }];
  }
}

function diagnosticOf(editor: EditorView, { line, column, message }: Mistake): Diagnostic {
  const { doc } = editor.state;
  const found = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(found.from + Math.max(0, column - 1), found.to);
  // At the end of a line there is no character to mark.
  const start = from === found.to && from > found.from ? from - 1 : from;
  const word = /^(?:[\w.@$]+|"(?:[^"\\]|\\.)*")/.exec(doc.sliceString(start, found.to))?.[0].length ?? 1;
  return { from: start, to: Math.min(start + word, doc.length), severity: "error", message };
}
