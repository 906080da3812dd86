// What is not safe about the set-up of the server.
import { sendForJson } from "./http";

export type Severity = "Danger" | "Warning" | "Notice";

export type Finding = {
  Id: string;
  Severity: Severity;
  /** The name of the API key or certificate that it is about. */
  Subject: string | null;
  Title: string;
  Advice: string;
  /** A page of the documentation with a section, as `security.md#https`. */
  Page: string;
};

/** GET `/admin/safety`: the gravest first. */
export async function safety(signal?: AbortSignal): Promise<Finding[]> {
  return (await sendForJson<{ Results: Finding[] }>("/admin/safety", { signal })).Results;
}
