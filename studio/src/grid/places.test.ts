import { expect, test } from "vitest";
import { keepPlace, placeAt } from "./places";

test("the latest places are kept, those that are used again too", () => {
  keepPlace("first", { top: 1, active: 1 });
  keepPlace("second", { top: 2, active: 2 });
  for (let at = 0; at < 48; at++) keepPlace(`${at}`, { top: at, active: 0 });
  keepPlace("first", { top: 9, active: 1 });
  keepPlace("one more", { top: 0, active: 0 });
  expect([placeAt("first")?.top, placeAt("second"), placeAt("0")?.top]).toEqual([9, undefined, 0]);
});
