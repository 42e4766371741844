import type { ImageSource } from "../../binary/source.ts";
import { cursor, endpoint, field, page } from "../../http/endpoint/endpoint.ts";
import { image, type PrintImage } from "./images.schema.ts";

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
