// The file that results are exported to.
import { csvHead, csvLines, FieldColumns } from "./csv";

/** The byte order mark is how spreadsheets know UTF-8. */
const MARK = "\uFEFF";

/** `paths`: the columns of CSV in their order; undefined is a column for each field. */
export type Format = { kind: "json" } | { kind: "csv"; paths: readonly string[] | undefined };

/** The file in parts, which the browser may keep on disk: of one string there would be no more than 512 MB. */
export class ResultFile {
  count = 0;
  private readonly parts: Blob[] = [];
  private readonly fields = new FieldColumns();

  constructor(private readonly format: Format) {}

  /** `texts`: a JSON object each. */
  add(texts: readonly string[]) {
    const { format } = this;
    if (texts.length === 0) return;
    if (format.kind === "json") this.parts.push(new Blob([this.count > 0 ? ",\n" : "", texts.join(",\n")]));
    else if (format.paths) this.parts.push(new Blob([csvLines(texts, format.paths)]));
    else {
      // Which columns there are is known at the end; until then it is kept as it came.
      this.fields.add(texts.map((text) => JSON.parse(text) as Record<string, unknown>));
      this.parts.push(new Blob([JSON.stringify(texts)]));
    }
    this.count += texts.length;
  }

  async content(): Promise<Blob> {
    const { format, parts } = this;
    if (format.kind === "json") return new Blob(["[\n", ...parts, "\n]\n"], { type: "application/json" });
    const paths = format.paths ?? this.fields.paths();
    if (format.paths === undefined) {
      for (const [at, part] of parts.entries()) parts[at] = new Blob([csvLines(JSON.parse(await part.text()) as string[], paths)]);
    }
    return new Blob([MARK, csvHead(paths), ...parts], { type: "text/csv" });
  }
}
