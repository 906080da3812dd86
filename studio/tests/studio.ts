// What all tests share: a page that is watched. A test fails if the console had an error, a script threw, or a request
// left the server's address, unless it says that it expects so.
import AxeBuilder from "@axe-core/playwright";
import { test as plain, expect, type Page, type Request } from "@playwright/test";

export { expect };

/** Requests that are kept waiting. */
export interface Held {
  /** Lets them go. */
  go: () => void;
  /** The first of them has arrived. */
  first: Promise<void>;
}

export class Studio {
  /** Of the server that all tests share, unless one has its own. */
  url = process.env["STUDIO_URL"]!;
  private readonly allowed: RegExp[] = [];
  readonly noticed: string[] = [];

  constructor(readonly page: Page) {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.noticed.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.noticed.push(`thrown: ${error.message}`));
    const look = (address: string) => {
      if (!address.startsWith(`${this.url}/`) && !/^(data|blob):/.test(address)) this.noticed.push(`left the server: ${address}`);
    };
    page.on("request", (request) => look(request.url()));
    page.on("websocket", (socket) => look(socket.url().replace(/^ws/, "http")));
  }

  /** Keeps requests to an address waiting: all of them, or those that `which` chooses. */
  async hold(address: string, which: (request: Request, count: number) => boolean = () => true): Promise<Held> {
    let go = () => {};
    const released = new Promise<void>((release) => (go = release));
    let arrived = () => {};
    const first = new Promise<void>((resolve) => (arrived = resolve));
    let count = 0;
    await this.page.route(address, async (route) => {
      if (which(route.request(), ++count)) {
        arrived();
        await released;
      }
      // The page may have given it up meanwhile.
      await route.continue().catch(() => undefined);
    });
    return { go, first };
  }

  /** A message of the console that a test brings about on purpose, as the browser's note of a 404. */
  allow(message: RegExp) {
    this.allowed.push(message);
  }

  get surprises(): string[] {
    return this.noticed.filter((text) => !this.allowed.some((allowed) => allowed.test(text)));
  }

  /** Opens a screen by what stands behind the `#`. */
  async open(place: string) {
    await this.page.goto(`${this.url}/studio/index.html#${place}`);
  }

  /** A database of this test alone, with documents by id. */
  async database(name: string, documents: Record<string, unknown> = {}) {
    const created = await this.page.request.put(`${this.url}/admin/databases?name=${name}`, { data: { DatabaseName: name } });
    expect(created.status()).toBe(201);
    for (const [id, document] of Object.entries(documents)) await this.put(name, id, document);
  }

  async put(database: string, id: string, document: unknown) {
    const answer = await this.page.request.put(`${this.url}/databases/${database}/docs`, {
      params: { id },
      data: document as object,
    });
    expect(answer.status()).toBe(201);
  }

  async index(database: string, definition: object) {
    const data = { Indexes: [definition] };
    const answer = await this.page.request.put(`${this.url}/databases/${database}/admin/indexes`, { data });
    expect(answer.status()).toBe(201);
  }

  /** Puts a text in place of all that is in an editor, as a user would. */
  async write(label: string, content: string) {
    await this.page.getByRole("textbox", { name: label, exact: true }).click();
    await this.page.keyboard.press("ControlOrMeta+A");
    await this.page.keyboard.insertText(content);
  }

  /** A document as the server has it, undefined if it has none. */
  async stored(database: string, id: string): Promise<Record<string, unknown> | undefined> {
    const answer = await this.page.request.get(`${this.url}/databases/${database}/docs`, { params: { id } });
    if (answer.status() === 404) return undefined;
    return ((await answer.json()) as { Results: Record<string, unknown>[] }).Results[0];
  }

  /** No serious finding of axe on what is shown now, or on the dialog alone: reading a whole page takes axe seconds on a busy machine. */
  async isAccessible(part?: "dialog") {
    await expect(this.page.getByText(/^Loading .*…$/).filter({ visible: true })).toHaveCount(0);
    // What fades in or out has half of its contrast, and a dialog that goes may stand over one that comes, when it has lost its name already.
    await this.page.waitForFunction(() => {
      const isMoving = (motion: Animation) => motion.playState === "running" && motion.effect?.getTiming().iterations !== Infinity;
      const dialogs = [...document.querySelectorAll('[role="dialog"]')];
      const hasName = (dialog: Element) =>
        dialog.hasAttribute("aria-label") || document.getElementById(dialog.getAttribute("aria-labelledby") ?? "") !== null;
      const isThere = (dialog: Element) => getComputedStyle(dialog).opacity === "1" && hasName(dialog);
      return !document.getAnimations().some(isMoving) && dialogs.every(isThere);
    });
    // Rows of a grid are alike: a few of them stand for all.
    const axe = new AxeBuilder({ page: this.page });
    if (part) axe.include(`[role="${part}"]`);
    const found = await axe
      .exclude('[role="rowgroup"] > :nth-child(n + 4)')
      .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"])
      .analyze();
    const serious = found.violations.filter((violation) => violation.impact === "serious" || violation.impact === "critical");
    const told = serious.map(
      (violation) =>
        `${violation.id}: ${violation.help}\n${violation.nodes.map((node) => `  ${node.html}\n  ${node.failureSummary}`).join("\n")}`,
    );
    expect(told.join("\n")).toBe("");
  }
}

export const test = plain.extend<{ studio: Studio }>({
  studio: async ({ page }, use) => {
    const studio = new Studio(page);
    await use(studio);
    expect(studio.surprises).toEqual([]);
  },
});
