import type { Redact } from "../../http/redact.ts";
import type { RecordedBody } from "./logged-request.ts";

/** The bytes of a text that are kept. */
const kept = 65_536 + 4096;
/** The characters that are cut off from an incomplete text: a part of a key at its end would not be found and redacted. */
const margin = 4096;

const textual = /^(text\/|application\/([\w.+-]+\+)?(json|xml)\b|application\/x-www-form-urlencoded)/i;

/** A copy: a slice of a string or of a network buffer would keep the whole of it in memory. */
const startOf = (text: string): string => Buffer.from(text.slice(0, kept)).toString();

/** Records a body, of which it keeps a bounded part. */
export class BodyRecorder {
  readonly #type: string;
  readonly #isText: boolean;
  #size = 0;
  #text = "";
  #bytes = Buffer.alloc(0);
  #used = 0;
  #isCut = false;

  constructor(type: string | null) {
    this.#type = type ?? "";
    this.#isText = textual.test(this.#type);
  }

  /** The memory that it uses, in bytes. A character counts as 2. */
  get weight(): number {
    return this.#bytes.length + 2 * this.#text.length;
  }

  /** Records the whole body, if it is a text. It keeps the string itself, which costs no time. */
  setText(whole: string): void {
    this.#size = Buffer.byteLength(whole);
    if (!this.#isText) return;
    this.#isCut = whole.length > kept;
    this.#text = this.#isCut ? startOf(whole) : whole;
  }

  /** Records the next piece of the body. */
  add(piece: Uint8Array): void {
    this.#size += piece.byteLength;
    if (!this.#isText || this.#isCut) return;
    const part = piece.subarray(0, kept - this.#used);
    this.#isCut = part.length < piece.length;
    const needed = this.#used + part.length;
    if (needed > this.#bytes.length) {
      // Doubled, so that many small pieces are not copied again and again. The first piece is often the only one.
      const larger = Buffer.alloc(this.#used === 0 ? needed : Math.min(kept, Math.max(needed, 2 * this.#used)));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#used);
    this.#used = needed;
  }

  /** The body as it may be shown. Undefined without a byte. */
  show(redact: Redact): RecordedBody | undefined {
    if (this.#size === 0) return undefined;
    const raw = this.#text === "" ? this.#bytes.toString("utf8", 0, this.#used) : this.#text;
    const redacted = redact(raw);
    const text = this.#isCut ? redacted.slice(0, -margin) : redacted;
    return {
      type: redact(this.#type),
      size: this.#size,
      text: this.#isText ? text : undefined,
      truncated: this.#isCut,
      json: () => JSON.parse(text),
    };
  }
}
