// Numbers that may be left out.

/** A whole number from 1 on; `undefined` for nothing. */
export function wholeNumber(text: string): number | undefined | "wrong" {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const number = /^\d+$/.test(trimmed) ? Number(trimmed) : NaN;
  return Number.isSafeInteger(number) && number >= 1 ? number : "wrong";
}
