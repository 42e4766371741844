import { RendertokenLimitError } from "../../errors/api.ts";
import { TokenBudgetError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { held } from "../../util/abort-signals.ts";
import { isoTime, latestTime } from "../../util/timestamp.ts";
import { getRendertokens } from "../rendertokens/rendertokens.endpoints.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { createRender } from "./renders.endpoints.ts";

/** Milliseconds before the week's tokens are read again, when they seem to be too few. */
const readAgainAfter = 60_000;

/** The right to deduct tokens for one creation. */
export interface Reservation {
  /** The number of attempts that the budget covers. */
  readonly attempts: number;
  /** Ends the reservation: so many of its attempts deducted tokens, or may have if they are `inDoubt`. */
  settle(deducted: number, inDoubt?: boolean): void;
}

interface Limits {
  readonly budget: number | undefined;
  /** The number of attempts of a creation whose responses are lost. */
  readonly attempts: number;
}

/**
 * The rendertokens that a batch may deduct: those of its budget, and those of the week, which are read once and then counted. Before a
 * creation is sent, it reserves its tokens, with those of its retries, so that the budget is never exceeded. If the week's tokens cannot be
 * read, only the service's refusals show that their limit is reached.
 */
export class TokenLimits {
  readonly #tools: BatchTools;
  readonly #limits: Limits;
  /** Resumes the rows that wait until a reservation ends. */
  readonly #waiting = new Set<() => void>();
  #reservations = 0;
  #reserved = 0;
  /** The tokens that were deducted, or may have been deducted by creations whose responses were lost. */
  spent = 0;
  #reading: Promise<void> | undefined;
  /** When the week's tokens were learned; undefined if another read may show others. */
  #learnedAt: number | undefined;
  #resetsAt: string | undefined;
  /** The tokens that remain of the week, without the reserved ones; undefined before they were read. */
  #remaining: number | undefined;

  constructor(tools: BatchTools, limits: Limits) {
    this.#tools = tools;
    this.#limits = limits;
  }

  /** Throws if it is already known that a creation of this cost would be refused. */
  check(cost: number): void {
    if (this.#reservations > 0) return;
    if (this.#affordable(cost) < 1) throw this.#overBudget(cost);
    if (this.#isFresh && this.#left < cost) throw this.#overLimit(cost);
  }

  /**
   * Reserves the tokens of a creation.
   *
   * @throws `TokenBudgetError` or `RendertokenLimitError` if they do not suffice. Nothing was sent.
   */
  async reserve(cost: number, row: BatchRow): Promise<Reservation> {
    for (;;) {
      if (this.#remaining === undefined) await this.#read(row);
      if (row.signal.aborted) throw row.signal.reason;
      const attempts = this.#affordable(cost);
      if (attempts > 0 && this.#left >= cost) return this.#take(cost, attempts);
      // A reservation that ends may leave tokens.
      if (this.#reservations > 0) await this.#change(row);
      else if (attempts < 1) throw this.#overBudget(cost);
      else if (this.#isFresh) throw this.#overLimit(cost);
      else await this.#read(row);
    }
  }

  /** Learns that the service refused a creation: other processes used the tokens of the week. */
  refused(cost: number, { resetsAt }: RendertokenLimitError): void {
    this.#remaining = Math.min(this.#left, cost - 1);
    this.#resetsAt = resetsAt ?? this.#resetsAt;
    this.#learnedAt = this.#tools.clock.now();
  }

  get #left(): number {
    return this.#remaining ?? Number.POSITIVE_INFINITY;
  }

  get #isFresh(): boolean {
    return this.#learnedAt !== undefined && this.#tools.clock.now() < this.#learnedAt + readAgainAfter;
  }

  /** The number of attempts that the budget covers. */
  #affordable(cost: number): number {
    const { budget = Number.POSITIVE_INFINITY, attempts } = this.#limits;
    return cost > 0 ? Math.min(attempts, Math.floor((budget - this.spent - this.#reserved) / cost)) : attempts;
  }

  #take(cost: number, attempts: number): Reservation {
    this.#reservations += 1;
    this.#reserved += cost * attempts;
    this.#remaining = this.#left - cost;
    return {
      attempts,
      settle: (deducted, inDoubt = false) => {
        this.#reservations -= 1;
        this.#reserved -= cost * attempts;
        this.spent += cost * deducted;
        this.#remaining = this.#left - cost * (deducted - 1);
        if (inDoubt) this.#learnedAt = undefined;
        const waiting = [...this.#waiting];
        this.#waiting.clear();
        for (const resume of waiting) resume();
      },
    };
  }

  #change(row: BatchRow): Promise<void> {
    return held<void>(row.signal, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    });
  }

  /** Reads the week's tokens. Rows that need them at the same time share the request. */
  #read(row: BatchRow): Promise<void> {
    this.#reading ??= this.#readWeek(row).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readWeek(row: BatchRow): Promise<void> {
    const { send, clock, requests } = this.#tools;
    const before = this.#left;
    try {
      const { data } = await requests.of(send(getRendertokens, {}, row.reading(), true));
      // What was reserved during the request counts, too.
      this.#remaining = data.remaining - (before === this.#left ? 0 : before - this.#left);
      this.#resetsAt = isoTime(latestTime(data.resets));
    } catch {
      this.#remaining = Number.POSITIVE_INFINITY;
    }
    this.#learnedAt = clock.now();
  }

  #overBudget(cost: number): TokenBudgetError {
    const remaining = (this.#limits.budget ?? 0) - this.spent;
    return new TokenBudgetError({ cost, remaining, resetsAt: this.#resetsAt });
  }

  #overLimit(cost: number): RendertokenLimitError {
    const resetsAt = this.#resetsAt;
    const now = this.#tools.clock.now();
    return new RendertokenLimitError({
      endpoint: nameOf(createRender),
      response: { status: 429, headers: {}, body: undefined },
      code: "rendertoken_limit_exceeded",
      message: `the render costs ${cost} rendertokens, and fewer remain this week (${Math.max(0, this.#left)})`,
      retryAfter: resetsAt === undefined ? undefined : Math.max(0, Date.parse(resetsAt) - now),
      resetsAt,
      unsent: true,
    });
  }
}
