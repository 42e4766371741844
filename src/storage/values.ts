/*
 * How values are written: as JSON where they are records, and with a checksum before their bytes.
 */

/** The bytes of a JSON value. */
export const toJson = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The JSON value of bytes; undefined if they are not JSON. The caller checks its form: another version may have written it. */
export function fromJson(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Bytes of the checksum. */
const checksumSize = 8;

/** Mixes the words of some bytes, as far as they are whole, into two hashes. A changed word always changes both. */
function mix([one = 0, other = 0]: readonly number[], { buffer, byteOffset, byteLength }: Uint8Array): number[] {
  const words = new DataView(buffer, byteOffset, byteLength);
  for (let at = 0; at + 4 <= byteLength; at += 4) {
    const word = words.getInt32(at);
    one = Math.imul(one ^ word, 0x85ebca6b);
    one ^= one >>> 15;
    other = Math.imul(((other << 13) | (other >>> 19)) ^ word, 0xc2b2ae35);
  }
  return [one, other];
}

/**
 * 64 bits that find damage, not forgery. It is synchronous: a digest of the platform would take longer than the value's own way, and with a
 * clock that a test moves, the time limit of the storage could pass meanwhile.
 */
function checksum(key: string, value: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(key);
  // The key, and the bytes of the value after its last whole word.
  const rest = new Uint8Array((name.byteLength + 7) & ~3);
  rest.set(name);
  rest.set(value.subarray(value.byteLength & ~3), name.byteLength);
  return new Uint8Array(Int32Array.from(mix(mix([value.byteLength, name.byteLength], value), rest)).buffer);
}

/** Puts a checksum of the key and the value before the value. */
export function seal(key: string, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(checksumSize + value.byteLength);
  sealed.set(checksum(key, value));
  sealed.set(value, checksumSize);
  return sealed;
}

/** Returns the value without its checksum; undefined if the value is damaged or belongs to another key. */
export function unseal(key: string, sealed: Uint8Array): Uint8Array | undefined {
  const value = sealed.subarray(checksumSize);
  return checksum(key, value).every((byte, index) => byte === sealed[index]) ? value : undefined;
}
