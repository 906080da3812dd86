// Numbers of fields.

/** A whole number from 1 on; `undefined` for nothing. */
export function wholeNumber(text: string): number | undefined | "wrong" {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const number = /^\d+$/.test(trimmed) ? Number(trimmed) : NaN;
  return Number.isSafeInteger(number) && number >= 1 ? number : "wrong";
}

const [INT64_MIN, INT64_MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/** A whole number of 64 bits, with or without a sign; `undefined` for nothing. */
export function int64(text: string): bigint | undefined | "wrong" {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (!/^[+-]?\d{1,40}$/.test(trimmed)) return "wrong";
  const number = BigInt(trimmed.replace(/^\+/, ""));
  return number >= INT64_MIN && number <= INT64_MAX ? number : "wrong";
}
