// How requests name the key of encrypted backups.

export type EncryptionSettings = { EncryptionMode?: string | null; Key?: string | null };

/** `key`: 32 bytes in base64; undefined: the backup is not encrypted. */
export function encryptedWith(key: string | undefined): EncryptionSettings | undefined {
  return key === undefined ? undefined : { EncryptionMode: "UseProvidedKey", Key: key };
}
