// How the studio is built: hashed names under assets/, and `x.br` and `x.gz` in place of what gets smaller by it.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
        const gzip = gzipSync(content, { level: 9 });
        if (brotli.length >= content.length || gzip.length >= content.length) continue;
        writeFileSync(join(folder, `${name}.br`), brotli);
        writeFileSync(join(folder, `${name}.gz`), gzip);
        rmSync(join(folder, name));
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
