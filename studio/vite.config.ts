// How the studio is built: hashed names under assets/, and `x.br` and `x.gz` beside what gets smaller by it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { book } from "./build/book.ts";

/** Below this many bytes a file fits in one packet anyway. */
const WORTHWHILE_SIZE = 1100;

/** Compresses each text of the build as far as it goes: it is done once, and sent often. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    writeBundle(options) {
      const folder = options.dir ?? "dist";
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!/\.(js|css|html|svg|txt)$/.test(name)) continue;
        const content = readFileSync(join(folder, name));
        if (content.length <= WORTHWHILE_SIZE) continue;
        const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } });
        for (const [ending, bytes] of [
          ["br", brotli],
          ["gz", gzipSync(content, { level: 9 })],
        ] as const) {
          if (bytes.length < content.length) writeFileSync(join(folder, `${name}.${ending}`), bytes);
        }
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), book(join(import.meta.dirname, "..")), packed()],
  // Relative, so that the studio also works behind a proxy that adds a prefix.
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  test: { include: ["src/**/*.test.ts", "build/**/*.test.ts"] },
});
