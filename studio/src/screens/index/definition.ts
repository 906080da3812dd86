// What people write of an index's definition: whether two are the same, where they differ, and what is made of both.
import type { Definition, FieldOptions, SpatialOptions } from "../../api/indexes";
import type { Language } from "../../editor/CodeEditor";

/** What the server takes if an option is not given. */
const FIELD_DEFAULTS: Record<string, unknown> = { Storage: "No", Indexing: "Default", Suggestions: false, TermVector: "No" };
const SPATIAL_DEFAULTS: Record<string, unknown> = {
  Type: "Geography",
  Strategy: "GeohashPrefixTree",
  Units: "Kilometers",
  MaxTreeLevel: 9,
};
/** Bounds of the earth are those of the server. */
const BOUNDS = ["MinX", "MaxX", "MinY", "MaxY"];

type Content = Required<Pick<Definition, "Maps" | "Fields" | "AdditionalSources" | "Configuration">> & { Reduce: string };

/** As an editor has it: clients on Windows end lines with \r\n. */
export const lines = (text: string) => text.replace(/\r\n?/g, "\n");

/** Two definitions are the same if these are, member by member in the same order. */
function contentOf(definition: Definition): Content {
  const fields = sorted(definition.Fields ?? {}).map(([name, options]) => [name, optionsOf(options)]);
  return {
    Maps: definition.Maps.map(lines),
    Reduce: lines(definition.Reduce ?? ""),
    Fields: Object.fromEntries(fields) as Content["Fields"],
    AdditionalSources: Object.fromEntries(sorted(definition.AdditionalSources ?? {}).map(([name, text]) => [name, lines(text)])),
    Configuration: Object.fromEntries(sorted(definition.Configuration ?? {})),
  };
}

/** The options that are not what the server takes anyway. */
function optionsOf(options: FieldOptions): FieldOptions {
  const given = sorted(options).filter(([name, value]) => value !== null && value !== undefined && value !== FIELD_DEFAULTS[name]);
  return Object.fromEntries(given.map(([name, value]) => [name, name === "Spatial" ? spatialOf(value as SpatialOptions) : value]));
}

function spatialOf(options: SpatialOptions): SpatialOptions {
  const given = sorted(options).filter(
    ([name, value]) =>
      value !== null && value !== SPATIAL_DEFAULTS[name] && !(options.Type !== "Cartesian" && BOUNDS.includes(name)),
  );
  return Object.fromEntries(given);
}

function sorted<T>(record: Record<string, T>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export function isSameContent(one: Definition, other: Definition): boolean {
  return JSON.stringify(contentOf(one)) === JSON.stringify(contentOf(other));
}

/** A text of a definition as somebody else stored it and as it was written here; "" where there is none. */
export type Part = { key: string; title: string; language: Language; theirs: string; mine: string };

/** The texts in which two definitions differ. What is no code is JSON. */
export function differences(theirs: Definition, mine: Definition): Part[] {
  const [stored, written] = [contentOf(theirs), contentOf(mine)];
  const parts: Part[] = [];
  const mapCount = Math.max(stored.Maps.length, written.Maps.length);
  for (let at = 0; at < mapCount; at++) {
    const texts = { theirs: stored.Maps[at] ?? "", mine: written.Maps[at] ?? "" };
    const language = languageOf(texts.mine || texts.theirs);
    parts.push({ key: `map ${at}`, title: mapCount > 1 ? `Map ${at + 1}` : "Map", language, ...texts });
  }
  const reduces = { theirs: stored.Reduce, mine: written.Reduce };
  parts.push({ key: "reduce", title: "Reduce", language: languageOf(reduces.mine || reduces.theirs), ...reduces });
  const json = (value: object) => JSON.stringify(value, null, 4);
  parts.push({ key: "fields", title: "Field options", language: "json", theirs: json(stored.Fields), mine: json(written.Fields) });
  const sources = new Set([...Object.keys(stored.AdditionalSources), ...Object.keys(written.AdditionalSources)]);
  for (const name of sources) {
    const texts = { theirs: stored.AdditionalSources[name] ?? "", mine: written.AdditionalSources[name] ?? "" };
    parts.push({ key: `source ${name}`, title: `Source ${name}`, language: "javascript", ...texts });
  }
  parts.push({
    key: "settings",
    title: "Settings",
    language: "json",
    theirs: json(stored.Configuration),
    mine: json(written.Configuration),
  });
  return parts.filter((part) => part.theirs !== part.mine);
}

/** `mine` with other texts for some of its parts, by their keys. A text that is empty takes its part away. Throws if JSON is broken. */
export function merged(mine: Definition, texts: ReadonlyMap<string, string>): Definition {
  const result: Definition = { ...mine, Maps: [...mine.Maps], AdditionalSources: { ...mine.AdditionalSources } };
  for (const [key, text] of texts) {
    const [kind, ...rest] = key.split(" ");
    const name = rest.join(" ");
    if (kind === "map") result.Maps[Number(name)] = text;
    else if (kind === "reduce") result.Reduce = text.trim() === "" ? null : text;
    else if (kind === "fields") result.Fields = objectOf<FieldOptions>(text);
    else if (kind === "settings") result.Configuration = objectOf<string>(text);
    else if (text === "") delete result.AdditionalSources![name];
    else result.AdditionalSources![name] = text;
  }
  result.Maps = [...result.Maps].filter((map) => map !== undefined && map.trim() !== "");
  return result;
}

function objectOf<T>(text: string): Record<string, T> {
  if (text.trim() === "") return {};
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("an object is expected");
  return value as Record<string, T>;
}

/** Maps in JavaScript are calls of `map`. */
export function languageOf(code: string): Language {
  return /\b(map|groupBy)\s*\(|=>\s*[({]/.test(code) && !/\bselect\s+new\b/.test(code) ? "javascript" : "csharp";
}
