import { expect, test } from "vitest";
import { changedBy, draftOf } from "./draft";

const NONE = { Default: null, Collections: {} };

test("a collection gets a configuration of its own, and loses it", () => {
  const draft = { ...draftOf(undefined), state: "kept" as const, days: "14" };
  const one = changedBy(NONE, "Posts", draft, 100, 14);
  expect(one.Collections["Posts"]).toEqual({
    Disabled: false,
    MinimumRevisionsToKeep: 100,
    MinimumRevisionAgeToKeep: "14.00:00:00",
    PurgeOnDelete: false,
  });
  expect(draftOf(one.Collections["Posts"])).toEqual({ state: "kept", count: "100", days: "14", purges: false });
  expect(changedBy(one, "posts", { ...draft, state: "default" }, 100, 14)).toEqual(NONE);
  expect(changedBy(one, undefined, { ...draft, state: "disabled" }, undefined, 14).Default).toMatchObject({ Disabled: true });
});

test("what has no field stays", () => {
  const before = { MaximumRevisionsToDeleteUponDocumentUpdate: 5, MinimumRevisionAgeToKeep: "01:00:00" };
  const draft = draftOf(before);
  expect(draft.days).toBe("");
  const after = changedBy({ Default: before, Collections: {} }, undefined, draft, undefined, undefined);
  expect(after.Default).toMatchObject(before);
});
