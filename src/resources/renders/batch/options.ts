import * as z from "zod/mini";
import { custom, taking, waiting } from "../../../http/endpoint/check-options.ts";
import { type ManyOptions, manyRows } from "../../../http/many.ts";
import { isFunction, isRecord } from "../../../schemas/type-guards.ts";
import type { WaitOptions } from "../render-waiting.ts";
import type { Render } from "../renders.schema.ts";

/** The progress of a batch. */
export interface BatchProgress {
  /** The number of rows, if `rows` is an array, a set or a map. */
  readonly total?: number | undefined;
  /** Rows with a mockup. */
  readonly done: number;
  /** Rows that failed. */
  readonly failed: number;
  /** Rows whose render was not created because of `tokenBudget` or the weekly limit. */
  readonly skipped: number;
  /** Rows that are started and have no outcome yet. */
  readonly pending: number;
  /** Rendertokens that this batch deducted, those of creations whose responses were lost included. */
  readonly tokensSpent: number;
  /** Requests that were sent, retries included. */
  readonly requests: number;
  /** The likely milliseconds until the last outcome, by the latest outcomes. Undefined without `total` and before the first outcome. */
  readonly remainingMs?: number | undefined;
}

/** Options of {@link RendersResource.batch}. */
export interface BatchOptions extends WaitOptions, ManyOptions {
  /**
   * Milliseconds per render, from its creation to the last byte of its image. Default: the client's `deadline`; without one, 600 000
   * for the wait only.
   */
  readonly deadline?: number | undefined;
  /** Maximum number of creations, and of pictures, at the same time. Pending renders do not count. Default 4. */
  readonly concurrency?: number | undefined;
  /** Maximum number of rows that are started and have no outcome yet. Default 2 000. */
  readonly maxPending?: number | undefined;
  /** Whether a render that failed in an earlier run is created again, which deducts its rendertokens again. Default false. */
  readonly retryFailed?: boolean | undefined;
  /** Maximum number of rendertokens that this call may deduct. Default: no maximum. */
  readonly tokenBudget?: number | undefined;
  /** Is called after each creation and each outcome. An error that it throws is ignored. */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined;
}

/** Where a batch saves its pictures. */
export interface SaveOptions<Row = unknown> {
  /** The path of the folder. It is created if it does not exist. */
  readonly directory: string;
  /**
   * Returns the path of a picture within the folder. Default: the references of the composition and the image, and the extension of the
   * picture.
   */
  readonly name?: ((row: Row, render: Render) => string) | undefined;
}

/**
 * What a batch does with the pictures: `false` requests none, and the path of a folder saves each one there. Default: each outcome carries
 * the open `Download`. {@link SaveOptions} also give names.
 */
export type BatchDownload = false | string | undefined;

const isDownload = (value: unknown): boolean => {
  if (value === false || (typeof value === "string" && value !== "")) return true;
  if (!isRecord(value)) return false;
  const { directory, name, ...unknown } = value;
  if (Object.keys(unknown).length > 0) return false;
  return typeof directory === "string" && directory !== "" && (name === undefined || isFunction(name));
};

/** The schema of the options. */
export const batchOptions = taking(() => ({
  ...waiting(),
  ...manyRows(),
  maxPending: custom((value) => typeof value === "number" && value >= 1, "expected a number from 1"),
  retryFailed: z.optional(z.boolean()),
  tokenBudget: z.optional(z.number().check(z.nonnegative({ error: "expected a number of rendertokens from 0" }))),
  onProgress: custom(isFunction, "expected a function"),
  download: custom(isDownload, "expected false, the path of a folder, or an object with `directory` and `name`"),
}));
