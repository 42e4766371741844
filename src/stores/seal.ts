const length = 8;

/** Mixes a word into a hash (the step of MurmurHash3). */
function mix(hash: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64;
}

/**
 * 64 bits that find damage, not forgery. It is synchronous: a digest of the platform would take longer than the value's own way, and with a
 * clock that a test moves, the time limit of the store could pass meanwhile.
 */
function checksum(key: string, value: Uint8Array): Uint8Array {
  let one = 0x9747b28c;
  let other = value.byteLength;
  const add = (word: number) => {
    one = mix(one, word);
    other = mix(other, word ^ one);
  };
  for (let index = 0; index < key.length; index += 1) add(key.charCodeAt(index));
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const whole = value.byteLength - (value.byteLength % 4);
  for (let index = 0; index < whole; index += 4) add(view.getUint32(index));
  for (let index = whole; index < value.byteLength; index += 1) add(view.getUint8(index));
  add(key.length);
  const sum = new DataView(new ArrayBuffer(length));
  sum.setUint32(0, one);
  sum.setUint32(4, other);
  return new Uint8Array(sum.buffer);
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
