import type { Download } from "../../binary/download.ts";
import { binary, endpoint, field, json, type ResponseShape } from "../../http/endpoint.ts";
import { createdRender, type RenderInput, render, renderInput } from "./renders.schema.ts";

/** Requests for these files are never conditional, because the files do not change (specification 4.6, rule 3). */
const file = binary as ResponseShape<Download>;

/** A retry returns the same render, but each request deducts rendertokens (specification 4.6). */
export const createRender = endpoint({
  call: "renders.create",
  method: "POST",
  path: "/renders",
  request: json<RenderInput>("render", renderInput),
  response: field("render", createdRender),
  repeat: "idempotent",
});

export const getRender = endpoint({
  call: "renders.get",
  method: "GET",
  path: "/renders/{renderReference}",
  response: field("render", render),
  repeat: "safe",
});

export const getRenderMedia = endpoint<`/renders/{renderReference}/${"media" | "thumbnail"}`, Download>({
  call: "renders.media",
  method: "GET",
  path: "/renders/{renderReference}/media",
  response: file,
  policies: ["default", "downloads"],
  repeat: "safe",
});

export const getRenderThumbnail: typeof getRenderMedia = endpoint({
  call: "renders.thumbnail",
  method: "GET",
  path: "/renders/{renderReference}/thumbnail",
  response: file,
  policies: ["default", "downloads"],
  repeat: "safe",
});
