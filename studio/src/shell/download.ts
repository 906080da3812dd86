// Handing a file to the browser, which saves it.

/** How long the browser may take to begin reading it, in ms: some ask their user first. */
const KEPT_MS = 600_000;

export function download(content: Blob, fileName: string) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
