/** Whether two byte sequences are equal. */
export const sameBytes = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  one.byteLength === other?.byteLength && one.every((byte, index) => byte === other[index]);
