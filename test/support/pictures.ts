const bytes = (head: readonly number[], length: number) =>
  Uint8Array.from({ length }, (_, index) => head[index] ?? (index * 7) % 256);

/** Bytes that start as a picture of that format does and contain every byte value, so that a re-encoding is detected. */
export const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0], 600);
export const png = bytes([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 600);
