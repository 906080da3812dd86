// Starts a server of our own on a free port with a folder of its own, loads the sample data, and stops it after the tests.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const START_MS_MAX = 30_000;

/** The server that is tested. */
export function binary(): string {
  const target = process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target");
  const found = process.env["ROOKERY"] ?? join(target, "release", "rookery");
  if (!existsSync(found)) throw new Error(`there is no ${found}: build it with 'make build'`);
  return found;
}

/** Starts a server with the data of a folder; `wanted` is its address, with port 0 any; `flags`: further ones. Resolves once it answers. */
export async function serve(
  folder: string,
  wanted = "http://127.0.0.1:0",
  flags: readonly string[] = [],
): Promise<{ url: string; server: ChildProcess }> {
  const server = spawn(binary(), ["serve", "--url", wanted, "--data", join(folder, "data"), ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const url = await new Promise<string>((found, lost) => {
    const timer = setTimeout(() => lost(new Error(`the server did not start:\n${output}`)), START_MS_MAX);
    const read = (part: Buffer) => {
      output += part.toString();
      const line = /Server available on: (\S+)/.exec(output);
      if (!line) return;
      clearTimeout(timer);
      found(line[1]!.replace(/\/$/, ""));
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.on("exit", (code) => lost(new Error(`the server ended with ${code}:\n${output}`)));
  });
  return { url, server };
}

/** Stops it and waits until it is gone. */
export async function stopped(server: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  const ended = new Promise((end) => server.on("exit", end));
  server.kill(signal);
  await ended;
}

export default async function start(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "rookery-studio-"));
  const { url, server } = await serve(folder);
  process.env["STUDIO_URL"] = url;
  process.env["STUDIO_PID"] = String(server.pid);

  await created(url, "Northwind");
  const sample = await fetch(`${url}/databases/Northwind/studio/sample-data?operateOnTypes=Documents`, { method: "POST" });
  if (!sample.ok) throw new Error(`the sample data were not loaded: ${sample.status}`);
  execFileSync(binary(), ["import", "--database", "Cities", join(ROOT, "data-sets/cities.jsonl.zst"), "--url", url], {
    stdio: "ignore",
  });

  return async () => {
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Creates a database over HTTP. */
export async function created(url: string, name: string): Promise<void> {
  const answer = await fetch(`${url}/admin/databases?name=${name}`, {
    method: "PUT",
    body: JSON.stringify({ DatabaseName: name }),
  });
  if (!answer.ok) throw new Error(`${name} was not created: ${answer.status} ${await answer.text()}`);
}
