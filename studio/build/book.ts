// The documentation in the studio: `virtual:book` has the table of contents of `docs/SUMMARY.md`, `virtual:book/<name>` a page. A page
// is loaded when it is opened.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import type { Block } from "../src/screens/help/tree";
import { blocksOf, nameOf, partsOf } from "./markdown.ts";

const CONTENTS = "virtual:book";
/** Stands in a page's JSON for the address of a picture, which only the bundler knows. */
const PICTURE = "\u0000picture:";

/** * `root`: the folder of the repository. */
export function book(root: string): Plugin {
  const summary = join(root, "docs", "SUMMARY.md");
  const parts = () => partsOf(readFileSync(summary, "utf8"));
  const paths = () => parts().flatMap(({ pages }) => pages.map(({ path }) => path));
  return {
    name: "book",
    resolveId(id) {
      return id === CONTENTS || id.startsWith(`${CONTENTS}/`) ? `\0${id}` : undefined;
    },
    load(id) {
      if (!id.startsWith(`\0${CONTENTS}`)) return undefined;
      if (id === `\0${CONTENTS}`) {
        this.addWatchFile(summary);
        return contentsModule(parts());
      }
      const name = id.slice(CONTENTS.length + 2);
      const path = paths().find((path) => nameOf(path) === name);
      if (path === undefined) throw new Error(`'${name}' is no page of docs/SUMMARY.md`);
      const file = join(root, path);
      this.addWatchFile(file);
      const { blocks, pictures } = pageOf(readFileSync(file, "utf8"), path, new Set(paths()));
      return pageModule(
        blocks,
        pictures.map((picture) => join(root, picture)),
      );
    },
  };
}

/** A page's blocks, and the pictures in them by their place in `pictures`. */
export function pageOf(markdown: string, path: string, pages: ReadonlySet<string>): { blocks: Block[]; pictures: string[] } {
  const pictures: string[] = [];
  const picture = (file: string) => {
    if (!pictures.includes(file)) pictures.push(file);
    return `${PICTURE}${pictures.indexOf(file)}`;
  };
  return { blocks: blocksOf(markdown, { path, pages, picture }), pictures };
}

function contentsModule(parts: ReturnType<typeof partsOf>): string {
  const shown = parts.map(({ title, pages }) => ({
    title,
    pages: pages.map(({ path, title, depth }) => ({ name: nameOf(path), title, depth })),
  }));
  const loads = shown.flatMap(({ pages }) =>
    pages.map(({ name }) => `${JSON.stringify(name)}: () => import(${JSON.stringify(`${CONTENTS}/${name}`)})`),
  );
  return `export const parts = ${JSON.stringify(shown)};\nexport const load = {\n${loads.join(",\n")}\n};\n`;
}

function pageModule(blocks: Block[], files: readonly string[]): string {
  const imports = files.map((file, at) => `import picture${at} from ${JSON.stringify(`${file}?url`)};\n`).join("");
  const written = JSON.stringify(JSON.stringify(blocks));
  if (files.length === 0) return `export default JSON.parse(${written});\n`;
  const names = files.map((_, at) => `picture${at}`).join(", ");
  const mark = JSON.stringify(PICTURE);
  return (
    `${imports}const pictures = [${names}];\n` +
    `const place = (_, value) => typeof value === "string" && value.startsWith(${mark}) ? pictures[Number(value.slice(${PICTURE.length}))] : value;\n` +
    `export default JSON.parse(${written}, place);\n`
  );
}
