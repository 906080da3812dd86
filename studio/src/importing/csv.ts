// A file of comma-separated values (RFC 4180), and the document that each of its rows becomes.
import { counted } from "../format/format";
import { isNumber } from "../json/scan";
import { FileError } from "./text";

/** What a column's fields become. An empty field is left out of its document. */
export type ColumnKind = "text" | "number" | "truth" | "json" | "none";

export type Column = { name: string; kind: ColumnKind };

/** How rows become documents. */
export type CsvPlan = {
  separator: string;
  columns: readonly Column[];
  /** The column with the ids; -1: the server makes them. */
  idColumn: number;
  /** What ids begin with, before what the column or the server adds. */
  idPrefix: string;
  collection: string;
};

export type Row = { line: number; fields: string[] };

/** A row that is none. */
export class RowError extends FileError {
  constructor(line: number, reason: string) {
    super(`Line ${line}: ${reason}.`);
  }
}

/** The separators that a file may have. */
const SEPARATORS = [",", ";", "\t", "|"];

/** The separator that stands most often in the first line, outside of quotes. */
export function separatorOf(beginning: string): string {
  const line = beginning.replace(/"(?:[^"]|"")*"/g, "").split(/\r?\n/, 1)[0]!;
  const counts = SEPARATORS.map((separator) => line.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))]!;
}

/** Cuts a text into rows as it comes. */
export class CsvReader {
  private field = "";
  private fields: string[] = [];
  private isQuoted = false;
  /** The field had quotes, and they are closed; a quote now is one of the text. */
  private isClosed = false;
  private line = 1;
  private rowLine = 1;
  private isFirst = true;

  constructor(private readonly separator: string) {}

  push(part: string): Row[] {
    const rows: Row[] = [];
    for (const sign of this.isFirst ? part.replace(/^\uFEFF/, "") : part) {
      if (sign === "\n") this.line++;
      if (this.isQuoted) {
        if (sign === '"') [this.isQuoted, this.isClosed] = [false, true];
        else this.field += sign;
      } else if (sign === '"' && this.isClosed) {
        this.field += '"';
        this.isQuoted = true;
      } else if (sign === '"' && this.field === "") {
        this.isQuoted = true;
      } else if (sign === this.separator) {
        this.endField();
      } else if (sign === "\n") {
        this.endRow(rows);
      } else if (sign !== "\r") {
        this.field += sign;
      }
    }
    if (part !== "") this.isFirst = false;
    return rows;
  }

  /** The last row, if no line break stands behind it. */
  end(): Row[] {
    if (this.isQuoted) throw new RowError(this.rowLine, "a quoted field has no end");
    const rows: Row[] = [];
    if (this.field !== "" || this.fields.length > 0 || this.isClosed) this.endRow(rows);
    return rows;
  }

  private endField() {
    this.fields.push(this.field);
    this.field = "";
    this.isClosed = false;
  }

  private endRow(rows: Row[]) {
    const isEmpty = this.fields.length === 0 && this.field === "" && !this.isClosed;
    this.endField();
    if (!isEmpty) rows.push({ line: this.rowLine, fields: this.fields });
    this.fields = [];
    this.rowLine = this.line;
  }
}

const KINDS: Record<Exclude<ColumnKind, "text" | "none">, (field: string) => boolean> = {
  // `007` and `+1` are codes and stay text.
  number: (field) => field.length <= 32 && isNumber(field),
  truth: (field) => /^(true|false)$/i.test(field),
  json: (field) => /^[[{]/.test(field) && isJson(field),
};

function isJson(field: string): boolean {
  try {
    JSON.parse(field);
    return true;
  } catch {
    return false;
  }
}

/** What the fields of each column look like: what all that are not empty are. */
export function guessed(names: readonly string[], rows: readonly Row[]): Column[] {
  return names.map((name, at) => {
    const filled = rows.map((row) => row.fields[at] ?? "").filter((field) => field !== "");
    const kind = (["number", "truth", "json"] as const).find((kind) => filled.length > 0 && filled.every(KINDS[kind]));
    return { name, kind: kind ?? "text" };
  });
}

/** Names of columns, each once: of two that are the same, the second would take the place of the first in each document. */
export function distinct(names: readonly string[]): string[] {
  const known = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let number = 2; seen.has(own) || (own !== name && known.has(own)); number++) own = `${name} ${number}`;
    seen.add(own);
    return own;
  });
}

/** The column that is called as ids are; -1 if there is none. */
export function guessedId(names: readonly string[]): number {
  const wanted = ["@metadata.@id", "@id", "id", "_id", "key"];
  const places = wanted.map((name) => names.findIndex((column) => column.toLowerCase() === name));
  return places.find((place) => place >= 0) ?? -1;
}

/** The collection that a file's name suggests: `products.csv.gz` is `Products`. */
export function guessedCollection(fileName: string): string {
  const name = fileName.replace(/\.(csv|tsv|txt|json|jsonl|ndjson|gz|zst)\b.*$/i, "").replace(/[^\p{L}\p{N}_-]+/gu, "");
  return name === "" ? "Rows" : name[0]!.toUpperCase() + name.slice(1);
}

type Tree = Map<string, string | Tree>;

/** The command of a bulk insert for a row. */
export function csvCommand(row: Row, plan: CsvPlan): { id: string | undefined; text: string } {
  const { id, text } = csvDocument(row, plan);
  // Ids that are only begun are ended by the server.
  const known = plan.idColumn < 0 || id.endsWith("/") ? undefined : id;
  return { id: known, text: `{"Id":${JSON.stringify(id)},"Type":"PUT","Document":${text}}` };
}

/** The document of a row. A name with dots is a path: `Address.City` lies in `Address`. */
export function csvDocument({ line, fields }: Row, plan: CsvPlan): { id: string; text: string } {
  if (fields.length !== plan.columns.length) {
    throw new RowError(line, `${counted(fields.length, "field")}, but the first line names ${plan.columns.length}`);
  }
  const own = plan.idColumn < 0 ? "" : fields[plan.idColumn]!;
  if (plan.idColumn >= 0 && own === "") throw new RowError(line, `the id in "${plan.columns[plan.idColumn]!.name}" is empty`);
  const root: Tree = new Map();
  plan.columns.forEach(({ name, kind }, at) => {
    const field = fields[at]!;
    if (kind === "none" || field === "" || /^(@metadata\.)?@id$/.test(name)) return;
    put(root, name.split("."), literal(field, kind));
  });
  if (plan.collection !== "" && !(root.get("@metadata") instanceof Map && (root.get("@metadata") as Tree).has("@collection"))) {
    put(root, ["@metadata", "@collection"], JSON.stringify(plan.collection));
  }
  return { id: plan.idPrefix + own, text: written(root) };
}

/** A field as JSON; what is not what its column is otherwise stays text. */
function literal(field: string, kind: ColumnKind): string {
  if (kind === "number" && KINDS.number(field)) return field;
  if (kind === "truth" && KINDS.truth(field)) return field.toLowerCase();
  if (kind === "json" && KINDS.json(field)) return field;
  return JSON.stringify(field);
}

function put(root: Tree, path: readonly string[], value: string) {
  let tree = root;
  for (const [at, name] of path.entries()) {
    const found = tree.get(name);
    if (typeof found === "string") {
      // A value stands where an object would have to: the rest of the path is a name of its own.
      tree.set(path.slice(at).join("."), value);
      return;
    }
    if (at === path.length - 1) {
      tree.set(name, value);
      // The same if the object was there first.
      for (const [inner, below] of found ?? []) tree.set(`${name}.${inner}`, below);
      return;
    }
    const inner: Tree = found ?? new Map();
    tree.set(name, inner);
    tree = inner;
  }
}

function written(tree: Tree): string {
  const members = [...tree].map(([name, value]) => `${JSON.stringify(name)}:${typeof value === "string" ? value : written(value)}`);
  return `{${members.join(",")}}`;
}
