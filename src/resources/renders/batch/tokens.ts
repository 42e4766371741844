import { RendertokenLimitError } from "../../../errors/api.ts";
import { TokenBudgetError } from "../../../errors/renders.ts";
import { nameOf } from "../../../http/endpoint.ts";
import { held } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import { latestTime } from "../../../util/timestamp.ts";
import { createRender } from "../renders.endpoints.ts";
import type { BatchCalls, Row } from "./calls.ts";

/** Milliseconds between two reads of the week's tokens after their reset: the clocks of the machine and the service may differ. */
const rereadAfter = 60_000;

/** The right to deduct tokens for one creation. */
export interface Reservation {
  /** The number of attempts that the budget covers. */
  readonly attempts: number;
  /** Ends the reservation: `attempts` of its attempts may have deducted tokens. */
  settle(attempts: number): void;
}

interface TokenLimits {
  readonly budget: number | undefined;
  /** The number of attempts of a creation whose responses are lost. */
  readonly attempts: number;
}

/**
 * The rendertokens that a batch may deduct: those of its budget, and those of the week, which are read once and then counted. Before a
 * creation is sent, it reserves its tokens, with those of its retries, so that the budget is never exceeded. If the week's tokens cannot be
 * read, only the service's refusals show that their limit is reached.
 */
export class Tokens {
  readonly #calls: BatchCalls;
  readonly #clock: PartnerClock;
  readonly #limits: TokenLimits;
  /** Resumes the rows that wait until a reservation ends. */
  readonly #waiting = new Set<() => void>();
  #reservations = 0;
  #reserved = 0;
  /** The tokens that were deducted, or may have been deducted by creations whose responses were lost. */
  spent = 0;
  #reading: Promise<void> | undefined;
  #readAt: number | undefined;
  #resets: number | undefined;
  #remaining = Number.POSITIVE_INFINITY;
  /** Whether the batch has used tokens since they were read, so that another read may show others. */
  #used = false;

  constructor(calls: BatchCalls, clock: PartnerClock, limits: TokenLimits) {
    this.#calls = calls;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Throws if it is already known that a creation of this cost would be refused. */
  check(cost: number): void {
    if (this.#reservations > 0) return;
    if (this.#affordable(cost) < 1) throw this.#overBudget(cost);
    if (this.#isKnown && this.#remaining < cost) throw this.#overLimit(cost);
  }

  /**
   * Reserves the tokens of a creation.
   *
   * @throws `TokenBudgetError` or `RendertokenLimitError` if they do not suffice. Nothing was sent.
   */
  async reserve(cost: number, row: Row): Promise<Reservation> {
    for (;;) {
      if (!this.#isKnown) await this.#read(row);
      if (row.signal.aborted) throw row.signal.reason;
      const attempts = this.#affordable(cost);
      if (attempts > 0 && this.#remaining >= cost) return this.#take(cost, attempts);
      // A reservation that ends may leave tokens.
      if (this.#reservations > 0) await this.#change(row);
      else if (attempts < 1) throw this.#overBudget(cost);
      else if (this.#isKnown && !this.#used) throw this.#overLimit(cost);
      else await this.#read(row);
    }
  }

  /** Learns that the service refused a creation: other processes used the tokens of the week. */
  refused(cost: number, { resetsAt }: RendertokenLimitError): void {
    this.#remaining = Math.min(this.#remaining, cost - 1);
    this.#resets = resetsAt?.getTime() ?? this.#resets;
    this.#used = false;
  }

  #affordable(cost: number): number {
    const { budget = Number.POSITIVE_INFINITY, attempts } = this.#limits;
    return cost > 0 ? Math.min(attempts, Math.floor((budget - this.spent - this.#reserved) / cost)) : attempts;
  }

  #take(cost: number, attempts: number): Reservation {
    this.#reservations += 1;
    this.#reserved += cost * attempts;
    this.#use(cost);
    return {
      attempts,
      settle: (used) => {
        this.#reservations -= 1;
        this.#reserved -= cost * attempts;
        this.spent += cost * used;
        this.#use(cost * (used - 1));
        for (const resume of [...this.#waiting]) resume();
      },
    };
  }

  #change(row: Row): Promise<void> {
    return held<void>(row.signal, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    });
  }

  /** Counts used tokens; a negative number gives them back. */
  #use(tokens: number): void {
    if (tokens !== 0) this.#used = true;
    this.#remaining -= tokens;
  }

  /** Whether the week's tokens were read, and not reset since. */
  get #isKnown(): boolean {
    if (this.#readAt === undefined) return false;
    const now = this.#clock.now();
    return now < (this.#resets ?? Number.POSITIVE_INFINITY) || now < this.#readAt + rereadAfter;
  }

  /** Reads the week's tokens. Rows that need them at the same time share the request. */
  #read(row: Row): Promise<void> {
    this.#reading ??= this.#readWeek(row).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readWeek(row: Row): Promise<void> {
    const before = this.#remaining;
    try {
      const { remaining, resets } = await this.#calls.rendertokens(row.reading());
      // What was reserved during the request counts, too.
      const meanwhile = Number.isFinite(before) ? before - this.#remaining : 0;
      this.#remaining = remaining - meanwhile;
      const time = latestTime(resets);
      this.#resets = Number.isFinite(time) ? time : undefined;
    } catch {
      this.#remaining = Number.POSITIVE_INFINITY;
    }
    this.#readAt = this.#clock.now();
    this.#used = false;
  }

  /** The time of the next reset; undefined if the service did not say it. */
  get #resetsAt(): Date | undefined {
    return this.#resets === undefined ? undefined : new Date(this.#resets);
  }

  #overBudget(cost: number): TokenBudgetError {
    const remaining = (this.#limits.budget ?? 0) - this.spent;
    return new TokenBudgetError({ cost, remaining, resetsAt: this.#resetsAt });
  }

  #overLimit(cost: number): RendertokenLimitError {
    const now = this.#clock.now();
    return new RendertokenLimitError({
      endpoint: nameOf(createRender),
      response: { status: 429, headers: {}, body: undefined },
      code: "rendertoken_limit_exceeded",
      message: `the render costs ${cost} rendertokens, and fewer remain this week (${Math.max(0, this.#remaining)})`,
      retryAfter: this.#resets && Math.max(0, this.#resets - now),
      now,
      unsent: true,
    });
  }
}
