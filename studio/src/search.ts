// The part of the address behind `?`: texts, and nothing else. The router's own way reads numbers, `null` and objects out of it, and the
// document `1.0` is then another one.

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** What is no text is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (typeof value === "string") parameters.set(name, value);
  return parameters.size > 0 ? `?${parameters}` : "";
}
