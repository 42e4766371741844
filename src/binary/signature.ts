const jpeg = [0xff, 0xd8, 0xff];
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The number of bytes that identify a format. */
export const signatureLength = 8;

const beginsWith =
  (signature: readonly number[]) =>
  (head: Uint8Array): boolean =>
    signature.every((byte, index) => head[index] === byte);

/** Whether the bytes start with the JPEG signature. */
export const isJpeg = beginsWith(jpeg);
/** Whether the bytes start with the PNG signature. */
export const isPng = beginsWith(png);

/** Whether the bytes start as a JPEG or a PNG, the two formats that the service accepts (specification 2.7). */
export const isImage = (head: Uint8Array): boolean => isJpeg(head) || isPng(head);
