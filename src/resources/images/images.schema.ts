import type { ImageReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A print image (specification 2.7). Identical content always has the same reference. */
export interface PrintImage {
  readonly reference: ImageReference;
}
export const image = () => open<PrintImage>({ reference: reference("Image") });
