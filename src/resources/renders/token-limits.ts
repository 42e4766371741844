import { RendertokenLimitError } from "../../errors/api.ts";
import { TokenBudgetError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { throwIfAborted, unlessAborted } from "../../util/abort-signals.ts";
import { dateOf } from "../../util/clock.ts";
import { isoTime, latestTime } from "../../util/timestamp.ts";
import { getRendertokens } from "../rendertokens/rendertokens.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { createRender } from "./renders.endpoints.ts";

/** Milliseconds before the week's tokens are read again if they seem too few. */
const readAgainAfter = 60_000;

/** The right to deduct tokens for one creation. */
export interface Reservation {
  readonly cost: number;
  /** The number of attempts that the budget covers. */
  readonly attempts: number;
}

interface Limits {
  readonly budget: number | undefined;
  /** The number of attempts of a creation whose responses are lost. */
  readonly attempts: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/**
 * The rendertokens that a batch may deduct: its budget, and the tokens of the week, which are read once and then counted. Each creation first
 * reserves tokens for itself and its retries, so that the budget is never exceeded. If the week's tokens cannot be read, only a refusal of the
 * service shows that they are used up.
 */
export class TokenLimits {
  readonly #tools: BatchTools;
  readonly #budget: number;
  readonly #attempts: number;
  /** The tokens that were deducted, including those that lost creations may have deducted. */
  spent = 0;
  readonly #reservations = new Set<Reservation>();
  /** Resolves when a reservation ends. */
  #ended = Promise.withResolvers<void>();
  /** The tokens of the week that are left. */
  #remaining = 0;
  #resetsAt: string | undefined;
  /** When `#remaining` was read; undefined if tokens were deducted since. */
  #learnedAt: number | undefined;
  /** The current request for the week's tokens. Never rejects. */
  #reading: Promise<void> | undefined;

  constructor(tools: BatchTools, { budget = Number.POSITIVE_INFINITY, attempts }: Limits) {
    this.#tools = tools;
    this.#budget = budget;
    this.#attempts = attempts;
  }

  /** Throws if {@link TokenLimits.reserve} would certainly throw. Sends no request. */
  check(cost: number): void {
    if (this.#reservations.size > 0) return;
    if (this.#affordable(cost) < 1) throw this.#overBudget(cost);
    if (this.#isFresh && !this.#isCovered(cost)) throw this.#overLimit(cost);
  }

  /**
   * Reserves the tokens of a creation.
   *
   * @throws `TokenBudgetError` or `RendertokenLimitError` if they do not suffice. Nothing was sent.
   */
  async reserve(cost: number, row: BatchRow): Promise<Reservation> {
    for (;;) {
      // Tokens that are deducted during a read would be counted twice, or not at all.
      while (this.#reading !== undefined) await this.#reading;
      throwIfAborted(row.signal);
      const attempts = this.#affordable(cost);
      const isCovered = this.#isCovered(cost);
      if (attempts > 0 && isCovered) {
        const reservation = { cost, attempts };
        this.#reservations.add(reservation);
        return reservation;
      }
      // Another reservation may end without using its tokens.
      if (this.#reservations.size > 0) await unlessAborted(this.#ended.promise, row.signal);
      else if (!isCovered && !this.#isFresh) this.#read(row);
      else if (attempts > 0) throw this.#overLimit(cost);
      else throw this.#overBudget(cost);
    }
  }

  /** Ends a reservation. `deducted` is the number of attempts that deducted tokens, or may have. */
  settle(reservation: Reservation, deducted: number, refusal?: RendertokenLimitError): void {
    const { cost } = reservation;
    this.#reservations.delete(reservation);
    this.spent += cost * deducted;
    this.#remaining -= cost * deducted;
    if (deducted > 0) this.#learnedAt = undefined;
    // Other processes have used the tokens of the week.
    if (refusal !== undefined) this.#learn(Math.min(this.#remaining, cost - 1), refusal.resetsAt ?? this.#resetsAt);
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }

  /** The number of attempts that the budget covers. */
  #affordable(cost: number): number {
    const reserved = sum([...this.#reservations].map((other) => other.cost * other.attempts));
    const left = this.#budget - this.spent - reserved;
    return cost > 0 ? Math.min(this.#attempts, Math.floor(left / cost)) : this.#attempts;
  }

  /** Whether the known tokens of the week cover one more attempt. */
  #isCovered(cost: number): boolean {
    return this.#remaining - sum([...this.#reservations].map((other) => other.cost)) >= cost;
  }

  get #isFresh(): boolean {
    return this.#learnedAt !== undefined && this.#tools.context.clock.now() < this.#learnedAt + readAgainAfter;
  }

  #learn(remaining: number, resetsAt: string | undefined): void {
    this.#remaining = remaining;
    this.#resetsAt = resetsAt;
    this.#learnedAt = this.#tools.context.clock.now();
  }

  #read(row: BatchRow): void {
    const read = this.#tools.send(getRendertokens, {}, row.reading(), { needs: ["remaining"], internal: true });
    this.#reading = read
      .then(({ data }) => this.#learn(data.remaining, isoTime(latestTime(data.resets))))
      .catch(() => this.#learn(Number.POSITIVE_INFINITY, this.#resetsAt))
      .finally(() => {
        this.#reading = undefined;
      });
  }

  #overBudget(cost: number): TokenBudgetError {
    const error = new TokenBudgetError({ cost, remaining: this.#budget - this.spent, resetsAt: this.#resetsAt });
    // It may be thrown by the call of an upload, which would add its own endpoint.
    error.endpoint = nameOf(createRender);
    return error;
  }

  #overLimit(cost: number): RendertokenLimitError {
    const resetsAt = this.#resetsAt;
    const now = dateOf(this.#tools.context.clock);
    return new RendertokenLimitError({
      endpoint: nameOf(createRender),
      response: { status: 429, headers: {}, body: undefined },
      code: "rendertoken_limit_exceeded",
      message: `the render costs ${cost} rendertokens, and fewer remain this week (${Math.max(0, this.#remaining)})`,
      retryAfter: resetsAt === undefined ? undefined : Math.max(0, Date.parse(resetsAt) - now),
      resetsAt,
      unsent: true,
    });
  }
}
