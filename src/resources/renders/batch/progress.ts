import type { PartnerClock } from "../../../util/clock.ts";
import { attempt } from "../../../util/foreign.ts";
import type { BatchCalls } from "./calls.ts";
import type { BatchOptions } from "./options.ts";
import type { MockupOutcome } from "./outcome.ts";
import type { Tokens } from "./tokens.ts";

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

/** The number of latest outcomes whose rate counts. */
const latest = 100;

const sizeOf = (rows: object): number | undefined => {
  const size = attempt(() => (Array.isArray(rows) ? rows.length : Reflect.get(rows, "size")));
  return typeof size === "number" ? size : undefined;
};

interface ProgressParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly tokens: Tokens;
  readonly onProgress: BatchOptions["onProgress"];
}

/** Counts the outcomes of a batch and reports its progress. */
export class ProgressReports {
  readonly #parts: ProgressParts;
  readonly #total: number | undefined;
  /** The times of the start and of the latest outcomes. */
  readonly #times: number[];
  readonly #counts = { done: 0, failed: 0, skipped: 0 };
  #started = 0;

  constructor(rows: object, parts: ProgressParts) {
    this.#parts = parts;
    this.#total = sizeOf(rows);
    this.#times = [parts.clock.now()];
  }

  /** A row was started. */
  started(): void {
    this.#started += 1;
  }

  /** A row has its outcome. */
  outcome(outcome: MockupOutcome<unknown, unknown>): void {
    if (outcome.ok) this.#counts.done += 1;
    else if (outcome.reason === "budget" || outcome.reason === "weekly-limit") this.#counts.skipped += 1;
    else this.#counts.failed += 1;
    this.#times.push(this.#parts.clock.now());
    if (this.#times.length > latest + 1) this.#times.shift();
    this.report();
  }

  report(): void {
    const { calls, tokens, onProgress } = this.#parts;
    if (onProgress === undefined) return;
    const { done, failed, skipped } = this.#counts;
    const ended = done + failed + skipped;
    const progress: BatchProgress = {
      total: this.#total,
      ...this.#counts,
      pending: this.#started - ended,
      tokensSpent: tokens.spent,
      requests: calls.requests,
      remainingMs: this.#remaining(ended),
    };
    attempt(() => onProgress(progress));
  }

  #remaining(ended: number): number | undefined {
    const [first = 0] = this.#times;
    if (this.#total === undefined || ended === 0) return undefined;
    const each = (this.#parts.clock.now() - first) / (this.#times.length - 1);
    return Math.max(0, this.#total - ended) * each;
  }
}
