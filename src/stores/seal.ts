const length = 8;

/** Bytes that are mixed in one call: V8 optimizes a function that is called often sooner than a long loop. */
const block = 8192;

/**
 * Mixes words into two hashes. A changed word always changes both. It calls no function of its own: V8 could allocate the
 * numbers that go in and out.
 */
function addWords(hashes: Int32Array, words: DataView, from: number, to: number): void {
  let one = hashes[0] ?? 0;
  let other = hashes[1] ?? 0;
  for (let at = from; at < to; at += 4) {
    const word = words.getInt32(at);
    one = Math.imul(one ^ word, 0x85ebca6b);
    one ^= one >>> 15;
    other = Math.imul(((other << 13) | (other >>> 19)) ^ word, 0xc2b2ae35);
  }
  hashes[0] = one;
  hashes[1] = other;
}

/**
 * 64 bits that find damage, not forgery. It is synchronous: a digest of the platform would take longer than the value's own way, and with a
 * clock that a test moves, the time limit of the store could pass meanwhile.
 */
function checksum(key: string, value: Uint8Array): Uint8Array {
  const { buffer, byteOffset, byteLength } = value;
  const whole = byteLength - (byteLength % 4);
  const name = new TextEncoder().encode(key);
  const hashes = Int32Array.of(byteLength, name.byteLength);
  const view = new DataView(buffer, byteOffset, byteLength);
  for (let at = 0; at < whole; at += block) addWords(hashes, view, at, Math.min(at + block, whole));
  // The key, and the bytes of the value after its last whole word.
  const rest = new DataView(new ArrayBuffer((name.byteLength + 7) & ~3));
  new Uint8Array(rest.buffer).set([...name, ...value.subarray(whole)]);
  addWords(hashes, rest, 0, rest.byteLength);
  return new Uint8Array(hashes.buffer);
}

/** Puts a checksum of the key and the value before the value. */
export function seal(key: string, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(length + value.byteLength);
  sealed.set(checksum(key, value));
  sealed.set(value, length);
  return sealed;
}

/** Returns the value without its checksum; undefined if the value is damaged or belongs to another key. */
export function unseal(key: string, sealed: Uint8Array): Uint8Array | undefined {
  const value = sealed.subarray(length);
  const expected = checksum(key, value);
  return expected.every((byte, index) => byte === sealed[index]) ? value : undefined;
}
