// Keys of encrypted backups: 32 bytes in base64.

export const KEY_SIZE = 32;

/** A new key, of the browser's source of randomness. */
export function newKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(KEY_SIZE))));
}

/** Whether a text is a key. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text.trim());
}

/** `kept`: the key that a task has. `isStored`: the user says that a new key is in a safe place. */
export type KeyChoice =
  | { kind: "none" }
  | { kind: "kept"; key: string }
  | { kind: "new"; key: string; isStored: boolean }
  | { kind: "own"; text: string };

/** The key that backups are encrypted with, undefined for none; `unready` while it is typed, or not stored yet. */
export function keyOf(choice: KeyChoice): string | undefined | "unready" {
  switch (choice.kind) {
    case "none":
      return undefined;
    case "kept":
      return choice.key;
    case "new":
      return choice.isStored ? choice.key : "unready";
    case "own":
      return isKey(choice.text) ? choice.text.trim() : "unready";
  }
}
