import type { PartnerClock } from "../../../util/clock.ts";
import { attempt } from "../../../util/foreign.ts";
import type { BatchCalls } from "./calls.ts";
import type { BatchOptions, BatchProgress } from "./options.ts";
import type { MockupOutcome } from "./outcome.ts";
import type { Tokens } from "./tokens.ts";

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
  /** Returns the number of rows that were started. */
  readonly started: () => number;
  readonly onProgress: BatchOptions["onProgress"];
}

/** Counts the outcomes of a batch and reports its progress. */
export class ProgressReports {
  readonly #parts: ProgressParts;
  readonly #total: number | undefined;
  /** The times of the start and of the latest outcomes. */
  readonly #times: number[];
  readonly #counts = { done: 0, failed: 0, skipped: 0 };

  constructor(rows: object, parts: ProgressParts) {
    this.#parts = parts;
    this.#total = sizeOf(rows);
    this.#times = [parts.clock.now()];
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
    const { calls, tokens, started, onProgress } = this.#parts;
    if (onProgress === undefined) return;
    const { done, failed, skipped } = this.#counts;
    const ended = done + failed + skipped;
    const progress: BatchProgress = {
      total: this.#total,
      ...this.#counts,
      pending: started() - ended,
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
