// How code looks: the colours are those of theme/tokens.css, so that light and dark need no second one.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.literal], color: "var(--code-number)" },
  { tag: [tags.keyword, tags.bool, tags.null, tags.atom, tags.operatorKeyword], color: "var(--code-word)" },
  {
    tag: [tags.propertyName, tags.definition(tags.propertyName), tags.typeName, tags.function(tags.variableName)],
    color: "var(--code-name)",
  },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-note)", fontStyle: "italic" },
  { tag: tags.special(tags.variableName), color: "var(--code-number)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const frame = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--panel)", color: "var(--ink)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--ink-faint)", border: "none", paddingLeft: "6px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "28px", paddingRight: "6px" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 5%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 22%, transparent)", outline: "none" },
  ".cm-foldGutter .cm-gutterElement": { cursor: "pointer", padding: "0 3px" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "none", color: "var(--ink-soft)", padding: "0 6px" },
  ".cm-panels": { backgroundColor: "var(--ground)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panels input, .cm-panels button": { fontFamily: "inherit", fontSize: "13px" },
  ".cm-panel.cm-search": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "6px",
    padding: "8px 40px 8px 12px",
    fontFamily: "inherit",
  },
  // What follows stands on a line of its own.
  ".cm-panel.cm-search br": { display: "block", flexBasis: "100%", content: "''" },
  ".cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label": { margin: 0, fontSize: "13px" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "5px", padding: "0 4px" },
  ".cm-panel.cm-search input[type=checkbox]": { width: "15px", height: "15px", accentColor: "var(--accent)" },
  ".cm-panel.cm-search .cm-textfield": { padding: "5px 9px", width: "160px", color: "var(--ink)" },
  ".cm-panel.cm-search .cm-textfield:focus": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-panel.cm-search .cm-button": { padding: "5px 10px", color: "var(--ink)", cursor: "pointer" },
  ".cm-panel.cm-search .cm-button:hover": { backgroundColor: "var(--hover)" },
  ".cm-panel.cm-search [name=close]": {
    position: "absolute",
    top: "6px",
    right: "8px",
    width: "28px",
    height: "28px",
    fontSize: "18px",
    color: "var(--ink-soft)",
    borderRadius: "5px",
    cursor: "pointer",
  },
  ".cm-panel.cm-search [name=close]:hover": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warn) 30%, transparent)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--warn) 55%, transparent)" },
  ".cm-textfield": { backgroundColor: "var(--panel)", border: "1px solid var(--line)", borderRadius: "5px" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--panel)", border: "1px solid var(--line)", borderRadius: "5px" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "7px",
    boxShadow: "0 6px 24px rgb(15 17 35 / 16%)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "260px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--ink-soft)", fontStyle: "normal", marginLeft: "14px", fontSize: "12.5px" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)", padding: "6px 10px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lint-marker": { width: "0.8em", height: "0.8em" },
  ".cm-id-link": { textDecoration: "underline dotted", textUnderlineOffset: "3px" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
});

/** The words of the panel that searches: those of buttons begin with a capital, here as elsewhere. */
const words = EditorState.phrases.of({
  Find: "Find",
  Replace: "Replace with",
  next: "Next",
  previous: "Previous",
  all: "Select all",
  "match case": "Match case",
  regexp: "Regular expression",
  "by word": "Whole words",
  replace: "Replace",
  "replace all": "Replace all",
  close: "Close",
});

export const look = [syntaxHighlighting(colours), frame, words];
