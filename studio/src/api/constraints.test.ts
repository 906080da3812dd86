import { expect, test, vi } from "vitest";

// The address of the page, which requests are sent to.
vi.stubGlobal("location", { href: "http://127.0.0.1:8080/studio/index.html" });
const { ApiError } = await import("./http");
const { duplicatesOf } = await import("./constraints");

const error = (message: string, status = 409) => new ApiError(status, "InvalidOperationException", message);
const begin = "The constraint 'Users/Email' cannot be made, because ";

test("documents that break a constraint are read from the error", () => {
  expect(duplicatesOf(error(`${begin}1 document breaks it: 'users/1' and 'users/2' have "ann@x.org". Change them first`))).toEqual({
    count: 1,
    listed: [{ ids: ["users/1", "users/2"], values: ['"ann@x.org"'] }],
  });
  const several = `${begin}12 documents break it: 'a/1' and 'it's' have 1.5, "x, 'y'; z. Change "; 'b' and 'c' have {"a":[1, 2]}, true and others. Change them first`;
  expect(duplicatesOf(error(several))).toEqual({
    count: 12,
    listed: [
      { ids: ["a/1", "it's"], values: ["1.5", `"x, 'y'; z. Change "`] },
      { ids: ["b", "c"], values: ['{"a":[1, 2]}', "true"] },
    ],
  });
});

test("other errors have none, and a text of another form no list", () => {
  expect(duplicatesOf(error("The document 'users/2' has the same Email as 'users/1'"))).toBeUndefined();
  expect(duplicatesOf(error(`${begin}1 document breaks it: 'a' and 'b' have 1. Change them first`, 400))).toBeUndefined();
  expect(duplicatesOf(new Error(begin))).toBeUndefined();
  expect(duplicatesOf(error(`${begin}2 documents break it: see the log`))).toEqual({ count: 2, listed: [] });
});
