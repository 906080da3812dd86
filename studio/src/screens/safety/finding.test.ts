import { expect, test } from "vitest";
import type { Finding, Severity } from "../../api/safety";
import { graveCount, placeOf, sectionOf } from "./finding";

const finding = (Id: string, Page = "operate.md", Severity: Severity = "Notice"): Finding => ({
  Id,
  Page,
  Severity,
  Subject: null,
  Title: "",
  Advice: "",
});

test("a finding leads to its section of the help", () => {
  expect(sectionOf(finding("x", "security.md#audit-log"))).toEqual({ page: "docs/security", at: "audit-log" });
  expect(sectionOf(finding("x", "operate.md"))).toEqual({ page: "docs/operate" });
});

test("a finding about keys or certificates of clients leads to their list", () => {
  expect(placeOf(finding("powerful-key-without-expiry"))?.tab).toBe("keys");
  expect(placeOf(finding("key-expired"))?.tab).toBe("keys");
  expect(placeOf(finding("certificate-expires"))?.tab).toBe("certificates");
  for (const id of ["open-private-key", "server-certificate-expires", "http-loopback"])
    expect(placeOf(finding(id))).toBeUndefined();
});

test("notices are not grave", () => {
  const all = (["Danger", "Notice", "Warning", "Notice"] as const).map((severity) => finding("x", "operate.md", severity));
  expect(graveCount(all)).toBe(2);
});
