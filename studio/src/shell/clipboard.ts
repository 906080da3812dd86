// Copying a text for the user.
import { failed, told } from "./toasts";

/** * `what`: how it is called where it is told. Without TLS a browser has no clipboard for pages but on its own machine. */
export async function copyText(text: string, what: string) {
  try {
    if (!("clipboard" in navigator)) throw new Error("a browser lets pages copy over HTTPS only. Select it and press Ctrl+C.");
    await navigator.clipboard.writeText(text);
    told(`${what} copied`);
  } catch (error) {
    failed("Not copied", error);
  }
}
