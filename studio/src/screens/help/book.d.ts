// The pages of `docs/SUMMARY.md`, which the build puts into the studio (`build/book.ts`). Each page is a file of its own.
declare module "virtual:book" {
  export const parts: readonly import("./tree").Part[];
  /** Loads a page by its name. */
  export const load: Readonly<Record<string, () => Promise<{ default: readonly import("./tree").Block[] }>>>;
}
