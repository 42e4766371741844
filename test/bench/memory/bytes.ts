const piece = 64 * 1024;
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** This many bytes that start as a PNG, in chunks that share no memory: a client that keeps them is detected. */
export function* bytes(length: number): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let at = 0; at < length; at += piece) {
    const chunk = new Uint8Array(Math.min(piece, length - at)).fill(1);
    if (at === 0) chunk.set(png);
    yield chunk;
  }
}
