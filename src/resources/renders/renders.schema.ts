import * as z from "zod/mini";
import type { CompositionReference, ImageReference, RenderReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open, strict, timestamp } from "../../schemas/shape.ts";

const renderStatuses = ["pending", "completed", "failed"] as const;

/**
 * `pending` while queued or being processed; the others are final (specification 3.2). A strict enum: no new values within v2
 * (specification 9.6).
 */
export type RenderStatus = (typeof renderStatuses)[number];

/** One of a render's files. */
export interface RenderFile {
  /** For example `image/png`. */
  readonly mimeType: string;
  /** The file name's ending that fits. */
  readonly extension: string;
  /** In bytes. */
  readonly size: number;
}

/** A mockup of an image on a composition (specification 2.9). Files, `thumbhash` and `completed` come with completion. */
export interface Render {
  readonly reference: RenderReference;
  readonly compositionReference: CompositionReference;
  readonly imageReference: ImageReference;
  readonly status: RenderStatus;
  /** Base64 of a compact placeholder image; only when completed. */
  readonly thumbhash?: string | null;
  /** The picture; only when completed. */
  readonly media?: RenderFile | null;
  /** The small picture; only when completed. */
  readonly thumbnail?: RenderFile | null;
  /** When it was asked for: an ISO 8601 timestamp. */
  readonly created: string;
  /** When it was completed; missing or null until then. */
  readonly completed?: string | null;
}

/** What a render is made of (specification 4.6). */
export interface RenderInput {
  readonly compositionReference: CompositionReference;
  readonly imageReference: ImageReference;
}

const file = () => open<RenderFile>({ mimeType: z.string(), extension: z.string(), size: z.number() });

export const render = () =>
  open<Render>({
    reference: reference("Render"),
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
    status: z.enum(renderStatuses),
    thumbhash: z.nullish(z.string()),
    media: z.nullish(file()),
    thumbnail: z.nullish(file()),
    created: timestamp(),
    completed: z.nullish(timestamp()),
  });

/** What the creation of a render gives. */
export interface CreatedRender {
  readonly reference: RenderReference;
}

export const createdRender = () => open<CreatedRender>({ reference: reference("Render") });

export const renderInput = () =>
  strict<RenderInput>({
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
  });
