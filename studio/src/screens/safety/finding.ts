// Where a finding leads to, and how grave it is for the eye.
import type { Finding, Severity } from "../../api/safety";

export const SEVERITIES: Record<Severity, { label: string; tone: "bad" | "warn" | "plain" }> = {
  Danger: { label: "Danger", tone: "bad" },
  Warning: { label: "Warning", tone: "warn" },
  Notice: { label: "Notice", tone: "plain" },
};

/** The page of the help, and its section. */
export function sectionOf({ Page }: Finding): { page: string; at?: string } {
  const [file = "", at] = Page.split("#");
  const page = `docs/${file.replace(/\.md$/, "")}`;
  return at === undefined ? { page } : { page, at };
}

/** The list where it can be changed, if the studio has one. */
export function placeOf({ Id }: Finding): { tab: "keys" | "certificates"; label: string } | undefined {
  if (/(^|-)key-/.test(Id)) return { tab: "keys", label: "API keys" };
  if (Id === "certificate-expires") return { tab: "certificates", label: "Certificates" };
  return undefined;
}

/** Those that are more than a notice. */
export function graveCount(findings: readonly Finding[]): number {
  return findings.filter(({ Severity }) => Severity !== "Notice").length;
}
