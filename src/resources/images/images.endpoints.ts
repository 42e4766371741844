import type { ImageSource } from "../../binary/source.ts";
import { cursor, endpoint, field, page } from "../../http/endpoint.ts";
import type { ImageReference } from "../../references/references.ts";
import { open, reference } from "../../schemas/shape.ts";

/** A print image (specification 2.7). Identical content always has the same reference. */
export interface PrintImage {
  readonly reference: ImageReference;
}
export const image = () => open<PrintImage>({ reference: reference("Image") });

export const uploadImage = endpoint<"/images", PrintImage, ImageSource>({
  call: "images.upload",
  method: "POST",
  path: "/images",
  request: { kind: "image" },
  response: field("image", image),
  policies: ["default", "uploads"],
  repeat: "idempotent",
});

export const listImages = endpoint({
  call: "images.list",
  method: "GET",
  path: "/images",
  query: cursor,
  response: page("images", image),
  repeat: "safe",
});
