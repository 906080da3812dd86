// Copying a text for the user.
import { failed, told } from "./toasts";

/** `what`: how it is called where it is told. Without TLS a browser has no clipboard for pages but on its own machine. */
export async function copyText(text: string, what: string) {
  if (await copied(text)) told(`${what} copied`);
}

/** Whether it was copied; why not is told. */
export async function copied(text: string): Promise<boolean> {
  try {
    if (!("clipboard" in navigator)) throw new Error("Browsers let pages copy over HTTPS only. Select it and press Ctrl+C.");
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    failed("Not copied", error);
    return false;
  }
}
