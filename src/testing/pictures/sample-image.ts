import { drawPhoneCase } from "./phone-case.ts";

/**
 * Makes a small PNG that really opens, 60 by 80 pixels: something to upload in a test. Other names give other pictures.
 *
 * @example
 * await partner.images.upload(sampleImage("a design"));
 */
export const sampleImage = (name = "sample"): Uint8Array<ArrayBuffer> => drawPhoneCase(name, 60, 80);
