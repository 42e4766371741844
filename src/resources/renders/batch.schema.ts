import * as z from "zod/mini";
import type { Download } from "../../binary/download.ts";
import type { ImageSource } from "../../binary/source.ts";
import { GoneError, isConfirmedMissing, NotFoundError, RendertokenLimitError } from "../../errors/api.ts";
import { RenderFailedError, TokenBudgetError } from "../../errors/renders.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import { nameOf } from "../../http/endpoint.ts";
import { custom, withRequestOptions } from "../../http/request-options.ts";
import type {
  CompositionReference,
  ImageReference,
  PerspectiveReference,
  ProductReference,
  SceneReference,
} from "../../references/references.ts";
import { check } from "../../schemas/check.ts";
import { addIssue, reference } from "../../schemas/shape.ts";
import { isFunction } from "../../util/foreign.ts";
import { getComposition, lookupComposition } from "../compositions/compositions.endpoints.ts";
import { type ManyOptions, manyRows } from "../many.ts";
import { type WaitOptions, waitingOptions } from "./render-waiting.ts";
import { createRender, type Render } from "./renders.endpoints.ts";

/** The composition of a mockup by its reference. */
export interface KnownComposition {
  readonly compositionReference: CompositionReference;
  readonly sceneReference?: undefined;
  readonly productReference?: undefined;
  readonly perspectiveReference?: undefined;
}

/** The composition of a mockup by its parts. */
export interface CombinedComposition {
  readonly compositionReference?: undefined;
  readonly sceneReference: SceneReference;
  readonly productReference: ProductReference;
  readonly perspectiveReference: PerspectiveReference;
}

/** An image that was uploaded. */
export interface ReferencedImage {
  readonly imageReference: ImageReference;
  readonly image?: undefined;
}

/** An image that the batch uploads. */
export interface SourceImage {
  readonly imageReference?: undefined;
  readonly image: ImageSource;
}

/**
 * The input of a mockup (specification 2.9, 4.6): a composition, by its reference or by its scene, product and perspective, and an image,
 * by its reference or as a source to upload.
 *
 * @example
 * const byReferences = { compositionReference, imageReference };
 * const byParts = { sceneReference, productReference, perspectiveReference, image: "design.png" };
 * for await (const outcome of partner.renders.batch([byReferences, byParts])) console.log(outcome.ok);
 */
export type MockupInput = (KnownComposition | CombinedComposition) & (ReferencedImage | SourceImage);

const parts = ["sceneReference", "productReference", "perspectiveReference"] as const;

const mockupInput = () =>
  z
    .strictObject({
      compositionReference: z.optional(reference("Composition")),
      sceneReference: z.optional(reference("Scene")),
      productReference: z.optional(reference("Product")),
      perspectiveReference: z.optional(reference("Perspective")),
      imageReference: z.optional(reference("Image")),
      image: z.optional(z.unknown()),
    })
    .check((context) => {
      const { value: input } = context;
      const issue = (path: string, message: string) => addIssue(context, { path: [path], message });
      const given = parts.filter((part) => input[part] !== undefined);
      const missing = parts.find((part) => input[part] === undefined);
      if (input.compositionReference !== undefined) {
        for (const part of given) issue(part, "is not allowed together with `compositionReference`");
      } else if (given.length === 0) issue("compositionReference", "is required, or a scene, product and perspective");
      else if (missing !== undefined) issue(missing, "is required without `compositionReference`");
      if (input.imageReference === undefined && input.image === undefined)
        issue("imageReference", "is required, or `image` with a source to upload");
      if (input.imageReference !== undefined && input.image !== undefined)
        issue("image", "is not allowed together with `imageReference`");
    });

/** Checks the input of a row. Throws before anything is sent for the row. */
export function assertInput(input: unknown): asserts input is MockupInput {
  const checked = check(mockupInput, input, ["render"]);
  if (!checked.ok) throw new RequestValidationError({ issues: checked.issues, endpoint: "POST /renders" });
}

/** The progress of a batch. */
export interface BatchProgress {
  /** The number of rows if `rows` is an array, a set or a map; otherwise undefined. */
  readonly total?: number | undefined;
  /** Rows with a mockup. */
  readonly done: number;
  /** Rows that failed. */
  readonly failed: number;
  /** Rows whose render was not created because of `tokenBudget` or the weekly limit. */
  readonly skipped: number;
  /** Rows that are started and have no outcome yet. */
  readonly pending: number;
  /** Rendertokens that this batch deducted, including those of creations whose responses were lost. */
  readonly tokensSpent: number;
  /** Requests that were sent, including retries. */
  readonly requests: number;
  /** Estimated milliseconds until the last outcome, from the latest outcomes. Undefined without `total` and before the first outcome. */
  readonly remainingMs?: number | undefined;
}

/** Options of {@link RendersResource.batch}. */
export interface BatchOptions<Row = unknown> extends WaitOptions, ManyOptions {
  /**
   * Milliseconds per row, from its start to the last byte of its picture: look-up, upload, creation, wait and download. Default: the
   * client's `deadline`; without one, 600 000 for the wait only.
   */
  readonly deadline?: number | undefined;
  /** Maximum number of creations at a time, and of open pictures. Pending renders do not count. Default 100. */
  readonly concurrency?: number | undefined;
  /** Maximum number of rows that are started and have no outcome yet. Default 2 000. */
  readonly maxPending?: number | undefined;
  /**
   * Whether to create a render again that failed in an earlier run. This deducts its rendertokens again, and is useful only if the service
   * makes a new render. By the specification (3.2, 4.6) it returns the same failed render, and the row ends as `render-failed` at once.
   * Default false.
   */
  readonly retryFailed?: boolean | undefined;
  /** Maximum number of rendertokens that this call may deduct. Default: no maximum. */
  readonly tokenBudget?: number | undefined;
  /**
   * Returns the path of a picture within the folder `download`. Default: the references of the composition and the image, with the
   * extension of the picture.
   */
  readonly fileName?: ((row: Row, render: Render) => string) | undefined;
  /** Called after each creation and each outcome. An error that it throws is ignored. */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined;
}

/**
 * What a batch does with the pictures: `false` requests none, and the path of a folder saves each picture there. Default: each outcome has
 * the open `Download`.
 */
export type BatchDownload = false | string | undefined;

/** A completed render with its image, ready to read. */
export interface RenderedMockup {
  /** The completed render. */
  readonly render: Render;
  /** The image. Read it or call `cancel()` before the request's `timeout` ends. */
  readonly media: Download;
}

/** A completed render whose picture was saved. */
export interface SavedMockup {
  /** The completed render. */
  readonly render: Render;
  /** The path of the picture. */
  readonly path: string;
}

/** A completed render whose picture was not requested. */
export interface CompletedMockup {
  /** The completed render. */
  readonly render: Render;
}

/** The value of an outcome, by the option `download`. */
export type MockupOf<To extends BatchDownload> = To extends false
  ? CompletedMockup
  : To extends string
    ? SavedMockup
    : RenderedMockup;

/**
 * Why a row has no mockup:
 *
 * - `not-found`: the composition does not exist (404). `gone`: it is no longer available (410). Nothing was created.
 * - `render-failed`: the service failed to process the render.
 * - `error`: anything else, for example an invalid row or a failed connection. Your `map` can throw any value.
 */
export type MockupFailure = "not-found" | "gone" | "render-failed" | "error";

/** Why a row was left out: the batch's `tokenBudget` or the week's rendertokens do not cover its render. Nothing was created. */
export type MockupLimit = "budget" | "weekly-limit";

/** A row without a mockup. Its `reason` gives the type of its `error`. */
export type MockupProblem<Row, Reason extends MockupFailure | MockupLimit, Error> = {
  readonly ok: false;
  readonly input: Row;
  readonly reason: Reason;
  readonly error: Error;
};

/** A row that was left out because of the tokens. */
export type MockupSkipped<Row, Reason extends MockupLimit, Error> = MockupProblem<Row, Reason, Error> & {
  /** When the week's rendertokens reset, as an ISO 8601 timestamp; undefined if the service did not say it. */
  readonly resetsAt: string | undefined;
};

/**
 * The outcome of a row of {@link RendersResource.batch}.
 *
 * @example
 * for await (const outcome of partner.renders.batch(inputs)) {
 *   if (outcome.ok) await outcome.value.media.saveTo(`${outcome.value.render.reference}.png`);
 *   else if (outcome.reason === "weekly-limit") console.log(`Continue at ${outcome.resetsAt}`);
 *   else console.error(outcome.reason, outcome.error);
 * }
 */
export type MockupOutcome<Row, Value> =
  | { readonly ok: true; readonly input: Row; readonly value: Value }
  | MockupProblem<Row, "not-found", NotFoundError>
  | MockupProblem<Row, "gone", GoneError>
  | MockupProblem<Row, "render-failed", RenderFailedError>
  | MockupProblem<Row, "error", unknown>
  | MockupSkipped<Row, "budget", TokenBudgetError>
  | MockupSkipped<Row, "weekly-limit", RendertokenLimitError>;

const ofComposition: ReadonlySet<string | undefined> = new Set([nameOf(lookupComposition), nameOf(getComposition)]);

/** The outcome of a row that failed or was left out. */
export function failedOutcome(input: unknown, error: unknown): MockupOutcome<unknown, never> & { readonly ok: false } {
  const failed = { ok: false, input } as const;
  if (error instanceof TokenBudgetError) {
    return { ...failed, reason: "budget", resetsAt: error.resetsAt, error };
  }
  if (error instanceof RendertokenLimitError) {
    return { ...failed, reason: "weekly-limit", resetsAt: error.resetsAt, error };
  }
  if (error instanceof RenderFailedError) return { ...failed, reason: "render-failed", error };
  if (!isConfirmedMissing(error)) return { ...failed, reason: "error", error };
  if (error instanceof NotFoundError && ofComposition.has(error.endpoint)) {
    return { ...failed, reason: "not-found", error };
  }
  if (error instanceof GoneError && (ofComposition.has(error.endpoint) || error.endpoint === nameOf(createRender))) {
    return { ...failed, reason: "gone", error };
  }
  return { ...failed, reason: "error", error };
}

const isDownload = (value: unknown): boolean => value === false || (typeof value === "string" && value !== "");

/** The schema of the options. */
export const batchOptions = withRequestOptions(() => ({
  ...waitingOptions(),
  ...manyRows(),
  maxPending: custom((value) => typeof value === "number" && value >= 1, "expected a number from 1"),
  retryFailed: z.optional(z.boolean()),
  tokenBudget: z.optional(z.number().check(z.nonnegative({ error: "expected a number of rendertokens from 0" }))),
  onProgress: custom(isFunction, "expected a function"),
  download: custom(isDownload, "expected false or the path of a folder"),
  fileName: custom(isFunction, "expected a function that returns a path within the folder of `download`"),
}));
