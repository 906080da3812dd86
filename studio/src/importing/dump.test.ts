import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { isDump, notesOf } = await import("./dump");

test("a dump is told by its name or its beginning", () => {
  expect([isDump("x.RavenDBDump", ""), isDump("x.ravendbdump.gz", "")]).toEqual([true, true]);
  expect([isDump("x.json", ' {"BuildVersion":7'), isDump("x.json", '{"Name":"BuildVersion"}')]).toEqual([true, false]);
});

test("what is notable of a result is told", () => {
  const counts = (ReadCount: number, ErroredCount = 0) => ({ ReadCount, ErroredCount });
  const messages = [
    "[07:00:00 INFO] Started.",
    "[07:00:00 ERROR] The index 'I' was not imported: x\ny",
    "[07:00:01 WARNING] Left out.",
  ];
  const result = { Documents: counts(2), Indexes: counts(3, 1), Identities: counts(1), Messages: messages };
  expect(notesOf(result)).toEqual([
    "2 indexes imported.",
    "1 identity imported.",
    "The index 'I' was not imported: x\ny",
    "Left out.",
  ]);
});
