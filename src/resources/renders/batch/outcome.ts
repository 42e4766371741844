import type { Download } from "../../../binary/download.ts";
import { ApiError, GoneError, NotFoundError, RendertokenLimitError } from "../../../errors/api.ts";
import { RenderFailedError, TokenBudgetError } from "../../../errors/renders.ts";
import { nameOf } from "../../../http/endpoint.ts";
import { getComposition, lookupComposition } from "../../compositions/compositions.endpoints.ts";
import { createRender } from "../renders.endpoints.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchDownload } from "./options.ts";

/** A completed render with its image, ready to read. */
export interface RenderedMockup {
  /** The completed render. */
  readonly render: Render;
  /** The image. Read it or call `cancel()` before the request's `timeout` ends. */
  readonly media: Download;
}

/** A completed render whose picture is saved. */
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
 * - `render-failed`: the service failed to process the render; `error` is a `RenderFailedError`.
 * - `error`: anything else, for example an invalid row or a failed connection.
 */
export type MockupFailure = "not-found" | "gone" | "render-failed" | "error";

/** Why a row was left out: the batch's `tokenBudget` or the week's rendertokens do not cover its render. Nothing was created. */
export type MockupLimit = "budget" | "weekly-limit";

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
  | { readonly ok: false; readonly input: Row; readonly reason: MockupFailure; readonly error: unknown }
  | {
      readonly ok: false;
      readonly input: Row;
      readonly reason: MockupLimit;
      /** When the week's rendertokens reset; undefined if the service did not say it. */
      readonly resetsAt: Date | undefined;
      readonly error: unknown;
    };

const ofComposition: ReadonlySet<string | undefined> = new Set([nameOf(lookupComposition), nameOf(getComposition)]);

function failureOf(error: unknown): MockupFailure {
  if (error instanceof RenderFailedError) return "render-failed";
  if (!(error instanceof ApiError)) return "error";
  if (error instanceof NotFoundError && ofComposition.has(error.endpoint)) return "not-found";
  const created = error.endpoint === nameOf(createRender);
  return error instanceof GoneError && (created || ofComposition.has(error.endpoint)) ? "gone" : "error";
}

/** The outcome of a row that failed or was left out. */
export function failedOutcome(input: unknown, error: unknown): MockupOutcome<unknown, never> & { readonly ok: false } {
  const { resetsAt } = error instanceof TokenBudgetError || error instanceof RendertokenLimitError ? error : {};
  if (error instanceof TokenBudgetError) return { ok: false, input, reason: "budget", resetsAt, error };
  if (error instanceof RendertokenLimitError) return { ok: false, input, reason: "weekly-limit", resetsAt, error };
  return { ok: false, input, reason: failureOf(error), error };
}
