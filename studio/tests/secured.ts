// A server with HTTPS, with certificates of its own, and calls of its administrator.
import { execFileSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as requestOf, type APIRequestContext } from "@playwright/test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary, serve, stopped } from "./server";

export class Secured {
  private constructor(
    readonly folder: string,
    readonly url: string,
    private readonly server: ChildProcess,
    /** Has the certificate of a cluster admin. */
    readonly admin: APIRequestContext,
  ) {}

  static async start(): Promise<Secured> {
    const folder = mkdtempSync(join(tmpdir(), "rookery-secured-"));
    const certificates = join(folder, "certificates");
    execFileSync(binary(), ["cert", "create", "localhost", "--folder", certificates], { stdio: "ignore" });
    const flags = ["--config-path", join(certificates, "settings.json")];
    const { url: address, server } = await serve(folder, "https://127.0.0.1:0", flags);
    const url = address.replace(/\/\/[^:]+/, "//127.0.0.1");
    const admin = await requestOf.newContext({
      baseURL: url,
      ignoreHTTPSErrors: true,
      clientCertificates: [{ origin: url, pfx: readFileSync(join(certificates, "admin.pfx")) }],
    });
    return new Secured(folder, url, server, admin);
  }

  get adminPfx(): Buffer {
    return readFileSync(join(this.folder, "certificates", "admin.pfx"));
  }

  /** A file with a certificate that the server does not know. */
  get unknownCertificate(): string {
    execFileSync(binary(), ["cert", "client", "app", "--folder", join(this.folder, "certificates")], { stdio: "ignore" });
    return join(this.folder, "certificates", "app.pem");
  }

  async database(name: string): Promise<void> {
    const answer = await this.admin.put("/admin/databases", { params: { name }, data: { DatabaseName: name } });
    if (!answer.ok()) throw new Error(await answer.text());
  }

  /** A new API key. */
  async key(name: string, clearance: string, permissions: Record<string, string> = {}): Promise<string> {
    const data = { Name: name, SecurityClearance: clearance, Permissions: permissions };
    const answer = await this.admin.post("/admin/api-keys", { data });
    if (!answer.ok()) throw new Error(await answer.text());
    return ((await answer.json()) as { Key: string }).Key;
  }

  async stop(): Promise<void> {
    await this.admin.dispose();
    await stopped(this.server);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
