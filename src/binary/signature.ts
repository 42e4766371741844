/** The bytes that a picture begins with, by its format. */
const signatures = {
  JPEG: [0xff, 0xd8, 0xff],
  PNG: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
} as const;

/** How many bytes {@link isImage} needs. */
export const signatureLength = 8;

/** Whether bytes begin as a JPEG or a PNG does: the two formats that the service accepts (specification 2.7). */
export const isImage = (head: Uint8Array): boolean =>
  Object.values(signatures).some((signature) => signature.every((byte, index) => head[index] === byte));
