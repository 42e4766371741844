const jpeg = [0xff, 0xd8, 0xff];
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** How many bytes it takes to know a format. */
export const signatureLength = 8;

const beginsWith =
  (signature: readonly number[]) =>
  (head: Uint8Array): boolean =>
    signature.every((byte, index) => head[index] === byte);

/** Whether bytes begin as a JPEG does. */
export const isJpeg = beginsWith(jpeg);
/** Whether bytes begin as a PNG does. */
export const isPng = beginsWith(png);

/** Whether bytes begin as a JPEG or a PNG does: the two formats that the service accepts (specification 2.7). */
export const isImage = (head: Uint8Array): boolean => isJpeg(head) || isPng(head);
