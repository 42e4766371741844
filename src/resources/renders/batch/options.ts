import * as z from "zod/mini";
import type { ManyOptions } from "../../../http/call/many.ts";
import { custom, manyRows, taking, waiting } from "../../../http/endpoint/check-options.ts";
import { isFunction, isRecord } from "../../../schemas/type-guards.ts";
import type { WaitOptions } from "../render-waiting.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchProgress } from "./progress.ts";

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
 * What a batch does with the pictures: `false` requests none; the path of a folder, or {@link SaveOptions}, saves each one there. Default:
 * each outcome carries the open `Download`.
 */
export type BatchDownload<Row = unknown> = false | string | SaveOptions<Row> | undefined;

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
