/** A number of at most four bytes, the lowest first. */
const numberOf = (bytes: readonly number[]): number => bytes.reduceRight((value, byte) => value * 256 + byte, 0);

/** How many bytes of a frame come next (RFC 8878, 3.1). It receives them if there are at most four. */
function* layout(): Generator<number, void, readonly number[]> {
  const magic = numberOf(yield 4);
  // A skippable frame: `184D2A50` to `184D2A5F`, its size, and content that is not data.
  if (magic >= 0x184d2a50 && magic <= 0x184d2a5f) {
    yield numberOf(yield 4);
    return;
  }
  const descriptor = numberOf(yield 1);
  const whole = (descriptor >> 5) & 1;
  yield 1 - whole;
  yield [0, 1, 2, 4][descriptor & 3] ?? 0;
  yield [whole, 2, 4, 8][descriptor >> 6] ?? 0;
  for (let last = 0; last === 0; ) {
    const block = numberOf(yield 3);
    last = block & 1;
    // Type 1 is one byte that is repeated.
    yield ((block >> 1) & 3) === 1 ? 1 : block >> 3;
  }
  if ((descriptor & 4) !== 0) yield 4;
}

/** Finds the end of a zstd frame. Node's decoder stops after the first frame, and does not report that a frame is incomplete. */
export class ZstdFrame {
  readonly #layout = layout();
  #wanted = this.#layout.next().value ?? 0;
  #bytes: number[] = [];
  #complete = false;

  /** Whether the last byte of the frame was passed. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Passes the bytes of a chunk from an index on. Returns the index after the last one that belongs to the frame. */
  pass(chunk: Uint8Array, from: number): number {
    let at = from;
    while (!this.#complete && (this.#wanted === 0 || at < chunk.length)) {
      const taken = Math.min(this.#wanted, chunk.length - at);
      if (this.#bytes.length + this.#wanted <= 4) this.#bytes.push(...chunk.subarray(at, at + taken));
      at += taken;
      this.#wanted -= taken;
      if (this.#wanted === 0) this.#next();
    }
    return at;
  }

  #next(): void {
    const { done, value } = this.#layout.next(this.#bytes);
    this.#bytes = [];
    this.#complete = done === true;
    this.#wanted = value ?? 0;
  }
}
