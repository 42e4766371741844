/** The bytes of a JSON value. */
export const toJson = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The JSON value of bytes; undefined if they are not JSON. The caller must check it, because another version may have written it. */
export function fromJson(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
