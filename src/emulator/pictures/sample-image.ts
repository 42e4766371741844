import { drawPhoneCase } from "./phone-case.ts";

/**
 * Makes a valid PNG of 60 by 80 pixels to upload in a test. Another name gives another picture.
 *
 * @example
 * await partner.images.upload(sampleImage("a design"));
 */
export const sampleImage = (name = "sample"): Uint8Array<ArrayBuffer> => drawPhoneCase(name, 60, 80);
