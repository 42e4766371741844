import { hexOf, sha256 } from "../util/sha256.ts";

/** The bytes that are kept in memory where the runtime has no streaming hash or no file system. */
const memoryLimit = 33_554_432;

/** Content that is too large for the memory of this runtime. */
export class TooLarge extends Error {
  override readonly message =
    `the content has more than ${memoryLimit} bytes, and this runtime cannot hash it in pieces or keep it in a file: use \`images.upload\``;
}

/** Chunks that are kept in memory, up to the limit. */
export class KeptChunks {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;

  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length > memoryLimit) throw new TooLarge();
    this.#chunks.push(chunk.slice());
  }

  blob(): Blob {
    return new Blob(this.#chunks);
  }
}

/** A SHA-256 of bytes that come in chunks. */
export interface Digest {
  add(chunk: Uint8Array): void;
  /** The hash in hexadecimal. Call it once, at the end. */
  hex(): Promise<string>;
}

/** Begins a hash. `crypto.subtle` can hash only complete bytes: a runtime without `node:crypto` keeps them in memory. */
export function createDigest(): Digest {
  const hash = globalThis.process?.getBuiltinModule?.("node:crypto")?.createHash("sha256");
  if (hash !== undefined) return { add: (chunk) => void hash.update(chunk), hex: async () => hash.digest("hex") };
  const kept = new KeptChunks();
  return {
    add: (chunk) => kept.add(chunk),
    hex: async () => {
      return hexOf(await sha256(await kept.blob().arrayBuffer()));
    },
  };
}
