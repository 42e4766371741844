import * as z from "zod/mini";
import type { Download } from "../../binary/download.ts";
import { binary, endpoint, field, json, type ResponseShape } from "../../http/endpoint.ts";
import type { CompositionReference, ImageReference, RenderReference } from "../../references/references.ts";
import { descriptive, open, reference, strict, text, timestamp } from "../../schemas/shape.ts";

const renderStatuses = ["pending", "completed", "failed"] as const;

/**
 * The status of a render: `pending` while queued or in process, then `completed` or `failed` (specification 3.2). A strict enum:
 * the service adds no values within v2 (specification 9.6).
 */
export type RenderStatus = (typeof renderStatuses)[number];

/** A file of a render (specification 2.9). */
export interface RenderFile {
  /** The media type, for example `image/png`. */
  readonly mimeType: string;
  /** The matching file name extension. */
  readonly extension: string;
  /** The size in bytes. */
  readonly size: number;
}

/** A mockup of an image on a composition (specification 2.9). Only a completed render has files, `thumbhash` and `completed`. */
export interface Render {
  readonly reference: RenderReference;
  readonly compositionReference: CompositionReference;
  readonly imageReference: ImageReference;
  readonly status: RenderStatus;
  /** A compact placeholder image as base64; only if completed. */
  readonly thumbhash?: string | null;
  /** The image; only if completed. */
  readonly media?: RenderFile | null;
  /** The small image; only if completed. */
  readonly thumbnail?: RenderFile | null;
  /** When it was created: an ISO 8601 timestamp. */
  readonly created: string;
  /** When it was completed, an ISO 8601 timestamp; missing or null until then. */
  readonly completed?: string | null;
}

/** A new render (specification 4.6). */
export interface RenderInput {
  readonly compositionReference: CompositionReference;
  readonly imageReference: ImageReference;
}

const renderFile = () =>
  descriptive(open<RenderFile>({ mimeType: z.string(), extension: z.string(), size: z.number() }));

export const render = () =>
  open<Render>({
    reference: reference("Render"),
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
    status: z.enum(renderStatuses),
    thumbhash: z.nullish(text()),
    media: z.nullish(renderFile()),
    thumbnail: z.nullish(renderFile()),
    created: timestamp(),
    completed: z.nullish(timestamp()),
  });

/** A created render. */
export interface CreatedRender {
  readonly reference: RenderReference;
}

const createdRender = () => open<CreatedRender>({ reference: reference("Render") });

const renderInput = () =>
  strict<RenderInput>({
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
  });

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
