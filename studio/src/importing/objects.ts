// JSON objects in an array, or one after the other over several lines, cut out while a file is read; none of it is held but the object at hand.
import { FileError } from "./text";

/** A file that has something else than objects, or ends in the middle. */
export class ObjectsError extends FileError {}

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA] = Array.from('"\\{}[],', (sign) => sign.charCodeAt(0));

/** Signs up to this one are blanks and ends of lines. */
const BLANK = 0x20;

export class ObjectReader {
  /** Brackets that are open in the object at hand; 0: between objects. */
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** What the objects are in: nothing was read yet, an array, an array that is closed, or nothing. */
  private place: "begin" | "array" | "closed" | "lines" = "begin";
  /** The object at hand, from earlier parts. */
  private held = "";

  /** The objects that end in this part. */
  push(part: string): string[] {
    const found: string[] = [];
    // Where the object at hand begins in this part.
    let from = 0;
    for (let at = 0; at < part.length; at++) {
      const sign = part.charCodeAt(at);
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (sign === BACKSLASH) this.isEscaped = true;
        else if (sign === QUOTE) this.isInString = false;
      } else if (this.depth === 0) {
        this.between(sign);
        if (sign === OPEN) [this.depth, from] = [1, at];
      } else if (sign === QUOTE) {
        this.isInString = true;
      } else if (sign === OPEN || sign === OPEN_LIST) {
        this.depth++;
      } else if (sign === CLOSE || sign === CLOSE_LIST) {
        this.depth--;
        if (this.depth > 0) continue;
        found.push(this.held + part.slice(from, at + 1));
        this.held = "";
      }
    }
    if (this.depth > 0) this.held += part.slice(from);
    return found;
  }

  /** The file ends; throws if an object or the array does not. */
  end() {
    if (this.depth > 0 || this.place === "array") throw new ObjectsError("The file is cut off: it ends in the middle.");
  }

  /** A sign that is in no object. */
  private between(sign: number) {
    if (sign <= BLANK || sign === 0xfeff) return;
    if (sign === OPEN_LIST && this.place === "begin") this.place = "array";
    else if (sign === CLOSE_LIST && this.place === "array") this.place = "closed";
    else if (sign === OPEN && this.place !== "closed") this.place = this.place === "array" ? "array" : "lines";
    else if (sign !== COMMA || this.place === "closed") throw new ObjectsError("Every element of the array must be a JSON object.");
  }
}
