// How far a subscription is.

/** The number of the write that a change vector of this server names: `A:12-…` is 12. Undefined if there is none. */
export function writeOf(changeVector: string | null): number | undefined {
  const number = /^[^:,]+:(\d+)-/.exec(changeVector ?? "")?.[1];
  return number === undefined ? undefined : Number(number);
}
