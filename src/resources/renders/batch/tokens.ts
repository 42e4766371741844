import { RendertokenLimitError } from "../../../errors/api.ts";
import { TokenBudgetError } from "../../../errors/token-budget.ts";
import { nameOf } from "../../../http/endpoint/endpoint.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import { createRender } from "../renders.endpoints.ts";
import type { BatchWaits } from "./batch-waits.ts";
import type { RowWork } from "./row-work.ts";
import type { WeeklyTokens } from "./weekly-tokens.ts";

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
 * The rendertokens that a batch may deduct: those of its budget and those of the week. Before a creation is sent, it reserves its tokens,
 * with those of its retries, so that the budget is never exceeded.
 */
export class Tokens {
  readonly #clock: PartnerClock;
  readonly #waits: BatchWaits;
  readonly #limits: TokenLimits;
  readonly #week: WeeklyTokens;
  /** Resumes the rows that wait until a reservation ends. */
  readonly #waiting = new Set<() => void>();
  #reservations = 0;
  #reserved = 0;
  /** The tokens that were deducted, or may have been deducted by creations whose responses were lost. */
  spent = 0;

  constructor(clock: PartnerClock, waits: BatchWaits, week: WeeklyTokens, limits: TokenLimits) {
    this.#clock = clock;
    this.#waits = waits;
    this.#week = week;
    this.#limits = limits;
  }

  /** Throws if it is already known that a creation of this cost would be refused. */
  check(cost: number): void {
    if (this.#reservations > 0) return;
    if (this.#affordable(cost) < 1) throw this.#overBudget(cost);
    if (this.#week.isKnown && this.#week.remaining < cost) throw this.#overLimit(cost);
  }

  /**
   * Reserves the tokens of a creation.
   *
   * @throws `TokenBudgetError` or `RendertokenLimitError` if they do not suffice. Nothing was sent.
   */
  async reserve(cost: number, row: RowWork): Promise<Reservation> {
    for (;;) {
      if (!this.#week.isKnown) await this.#week.read(row);
      this.#waits.check(row.left);
      const attempts = this.#affordable(cost);
      if (attempts > 0 && this.#week.remaining >= cost) return this.#take(cost, attempts);
      // A reservation that ends may leave tokens.
      if (this.#reservations > 0) await this.#change(row);
      else if (attempts < 1) throw this.#overBudget(cost);
      else if (this.#week.isFresh) throw this.#overLimit(cost);
      else await this.#week.read(row);
    }
  }

  /** Learns that the service refused a creation: other processes used the tokens of the week. */
  refused(cost: number, error: RendertokenLimitError): void {
    this.#week.refused(cost, error.resetsAt);
  }

  #affordable(cost: number): number {
    const { budget = Number.POSITIVE_INFINITY, attempts } = this.#limits;
    return cost > 0 ? Math.min(attempts, Math.floor((budget - this.spent - this.#reserved) / cost)) : attempts;
  }

  #take(cost: number, attempts: number): Reservation {
    this.#reservations += 1;
    this.#reserved += cost * attempts;
    this.#week.use(cost);
    return {
      attempts,
      settle: (used) => {
        this.#reservations -= 1;
        this.#reserved -= cost * attempts;
        this.spent += cost * used;
        this.#week.use(cost * (used - 1));
        for (const resume of [...this.#waiting]) resume();
      },
    };
  }

  #change(row: RowWork): Promise<void> {
    return this.#waits.hold<void>(row.left, (resolve) => {
      const resume = () => {
        this.#waiting.delete(resume);
        resolve();
      };
      this.#waiting.add(resume);
      return () => this.#waiting.delete(resume);
    });
  }

  #overBudget(cost: number): TokenBudgetError {
    const remaining = (this.#limits.budget ?? 0) - this.spent;
    return new TokenBudgetError({ cost, remaining, resetsAt: this.#week.resetsAt });
  }

  #overLimit(cost: number): RendertokenLimitError {
    const now = this.#clock.now();
    const { resetsAt, remaining } = this.#week;
    return new RendertokenLimitError({
      endpoint: nameOf(createRender),
      response: { status: 429, headers: {}, body: undefined },
      code: "rendertoken_limit_exceeded",
      message: `the render costs ${cost} rendertokens, and fewer remain this week (${Math.max(0, remaining)})`,
      retryAfter: resetsAt && Math.max(0, resetsAt.getTime() - now),
      now,
      unsent: true,
    });
  }
}
