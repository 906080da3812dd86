// A dump of RavenDB: one JSON object whose arrays are documents, indexes, identities and more (`{"BuildVersion":..,"Docs":[..],..}`).
// It is cut into the objects of these arrays while it is read; none of it is held but the object at hand.
import { FileError } from "./text";

/** An object of one of the arrays. */
export type DumpElement = { section: string; text: string };

/** A file that is no dump, or ends in the middle. */
export class DumpError extends FileError {}

/** How every dump begins. */
export function isDump(beginning: string): boolean {
  return /^\s*\{\s*"BuildVersion"/.test(beginning);
}

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON] = Array.from('"\\{}[]:', (sign) => sign.charCodeAt(0));

/** Signs up to this one are blanks and ends of lines. */
const BLANK = 0x20;

/** The root is level 1, an array of it level 2, its objects level 3. */
const ELEMENT_DEPTH = 3;

export class DumpReader {
  /** `isStrict`: what stands between the objects of an array is refused, in place of being passed over. */
  constructor(private readonly options = { isStrict: false }) {}

  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** The value at hand belongs to the member `name`; the next string of the root is a name otherwise. */
  private isAfterName = false;
  private isInArray = false;
  private name = "";
  /** What is being kept, from earlier parts. */
  private held = "";

  /** The objects that end in this part. */
  push(part: string): DumpElement[] {
    const found: DumpElement[] = [];
    // Where what is being kept begins in this part; -1: nothing is.
    let from = this.isKeeping() ? 0 : -1;
    for (let at = 0; at < part.length; at++) {
      const sign = part.charCodeAt(at);
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (sign === BACKSLASH) this.isEscaped = true;
        else if (sign === QUOTE) {
          this.isInString = false;
          if (this.depth === 1 && !this.isAfterName) {
            this.name = JSON.parse(this.held + part.slice(from, at + 1)) as string;
            [this.held, from] = ["", -1];
          }
        }
        continue;
      }
      switch (sign) {
        case QUOTE:
          this.refuse();
          this.isInString = true;
          if (this.depth === 1 && !this.isAfterName) from = at;
          break;
        case COLON:
          if (this.depth === 1) this.isAfterName = true;
          break;
        case OPEN:
        case OPEN_LIST:
          if (this.depth === 0 && sign !== OPEN) throw new DumpError("The file is no dump: a dump is one JSON object.");
          if (sign === OPEN_LIST) this.refuse();
          this.depth++;
          if (this.depth === 2) this.isInArray = sign === OPEN_LIST;
          if (this.depth === ELEMENT_DEPTH && this.isInArray && sign === OPEN) from = at;
          break;
        case CLOSE:
        case CLOSE_LIST:
          this.depth--;
          if (this.depth === ELEMENT_DEPTH - 1 && from >= 0) {
            found.push({ section: this.name, text: this.held + part.slice(from, at + 1) });
            [this.held, from] = ["", -1];
          }
          if (this.depth === 1) this.isAfterName = false;
          break;
        case 44: // A comma.
          if (this.depth === 1) this.isAfterName = false;
          break;
        default:
          if (sign > BLANK) this.refuse();
      }
    }
    if (from >= 0) this.held += part.slice(from);
    return found;
  }

  /** The file ends; throws if the dump does not. */
  end() {
    if (this.depth > 0 || this.isInString) throw new DumpError("The file is cut off: it ends in the middle.");
  }

  /** Where an object of an array is due something else stands. */
  private refuse() {
    if (this.options.isStrict && this.depth === ELEMENT_DEPTH - 1)
      throw new DumpError("Every element of the array must be a JSON object.");
  }

  private isKeeping(): boolean {
    return this.held !== "";
  }
}
