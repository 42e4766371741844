import { DeadlineError } from "../../errors/connection.ts";
import { OutcomeUnknownError } from "../../errors/outcome.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import type { Arrival } from "../wire/exchange.ts";
import type { Attempts } from "./attempts.ts";
import type { CallDetails } from "./call-details.ts";
import { Lookup } from "./lookup.ts";
import { longSearch, refusesContent, searchTime, verdictOf } from "./lost-response.ts";
import type { Delivered, Found, Recovery } from "./recovery.ts";
import { isRateLimited, repeat, retryAfterOf } from "./retry.ts";

/** A creation and how it is sent, read and looked up. */
export interface CreationDetails<Data> {
  readonly call: CallDetails;
  readonly attempts: Attempts;
  readonly request: EncodedRequest;
  readonly recovery: Recovery<Data> | undefined;
  readonly read: (arrival: Arrival) => Found<Data>;
}

/**
 * One creation, carried out at most once (law 2): when a response is lost, the creation is looked up before it is sent again. When
 * look-ups cannot decide, `OutcomeUnknownError` says so.
 */
export class Creation<Data> {
  readonly #details: CreationDetails<Data>;
  readonly #lookup: Lookup<Data>;
  #retried = false;

  constructor(details: CreationDetails<Data>) {
    this.#details = details;
    this.#lookup = new Lookup(details.call, details.attempts, details.recovery);
  }

  async run(lookFor?: number): Promise<Delivered<Data>> {
    const { call, attempts, request, read } = this.#details;
    const before = lookFor === undefined ? undefined : await this.#lookup.search(lookFor, "before");
    if (before !== undefined) return before;
    const send = async () => ({ ...(await attempts.succeed(request, false, read)), recovered: false });
    try {
      return await repeat(
        (number, error) => (number === 1 ? send() : this.#retry(error, number - 1)),
        call.retry.retries,
        (error) => this.#mayRepeat(error),
      );
    } catch (error) {
      return this.#conclude(error);
    }
  }

  /** After a failure: until when, by the clock, the service may still carry out the creation; undefined if it certainly does not. */
  doubtfulUntil(): number | undefined {
    const { attempts, call } = this.#details;
    if (!attempts.inDoubt) return undefined;
    const now = call.core.clock.now();
    return now + longSearch(now - attempts.sentAt, call.core.processingTime);
  }

  /** Whether another attempt may follow an error: it looks up the creation, and sends it again if the look-up does not find it. */
  #mayRepeat(error: unknown): boolean {
    const { call, attempts, recovery } = this.#details;
    if (recovery === undefined || !attempts.inDoubt || this.#isFinal(error)) return false;
    if ((retryAfterOf(error) ?? 0) > call.retry.maxRetryAfter) return false;
    const verdict = verdictOf(error, true);
    if (verdict !== "lost" && verdict !== "idle") return false;
    return isRateLimited(error) || call.core.retryBudget.spend();
  }

  async #retry(error: unknown, attempt: number): Promise<Delivered<Data>> {
    const { attempts, request, read } = this.#details;
    const found = await this.#searchAfter(error);
    if (found !== undefined) return found;
    const late = await this.#inDoubt(async () => {
      await attempts.waitToRetry(error, attempt);
      return this.#lookup.refresh();
    });
    if (late !== undefined) return late;
    let grant = await this.#inDoubt(() => attempts.acquire());
    if (this.#lookup.outdated) {
      // The queue was long, too. The tokens are returned: in a small bucket the look-up needs the same token.
      attempts.release(grant);
      const later = await this.#inDoubt(() => this.#lookup.refresh());
      if (later !== undefined) return later;
      grant = await this.#inDoubt(() => attempts.acquire());
    }
    this.#retried = true;
    return { ...read(await attempts.send(request, grant)), recovered: false };
  }

  /** Decides what an error means when no other attempt follows. */
  async #conclude(error: unknown): Promise<Delivered<Data>> {
    const { attempts, recovery } = this.#details;
    if (!attempts.inDoubt || error instanceof OutcomeUnknownError) throw error;
    if (this.#isFinal(error)) throw error instanceof DeadlineError ? this.#unknown(error) : error;
    const verdict = verdictOf(error, recovery !== undefined);
    // The service itself responded to the only attempt: the error says what happened.
    if (verdict === "other" && !this.#retried) throw error;
    const found = verdict === "other" || verdict === "idle" ? undefined : await this.#searchAfter(error);
    if (found !== undefined) return found;
    if (verdict !== "refused" || !(refusesContent(error) || recovery?.ruledOut?.())) throw this.#unknown(error);
    attempts.settle();
    throw error;
  }

  /** Whether an error ended the call itself: the caller's abort or the deadline. */
  #isFinal(error: unknown): boolean {
    return this.#details.call.scope.ended(error);
  }

  /** Looks up a creation whose response was lost, for as long as the service may be working on it. */
  async #searchAfter(error: unknown): Promise<Delivered<Data> | undefined> {
    const { call, attempts, recovery } = this.#details;
    if (verdictOf(error, recovery !== undefined) === "idle") return undefined;
    const elapsed = call.core.clock.now() - attempts.sentAt;
    return this.#inDoubt(() => this.#lookup.search(searchTime(error, elapsed, call.core.processingTime), "after"));
  }

  /** Runs `work` while the outcome is unknown: a failure becomes `OutcomeUnknownError`, except the caller's own abort. */
  async #inDoubt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#isFinal(error) && !(error instanceof DeadlineError) ? error : this.#unknown(error);
    }
  }

  #unknown(cause: unknown): OutcomeUnknownError {
    const { call, recovery } = this.#details;
    return new OutcomeUnknownError({
      endpoint: call.name,
      how: recovery?.how ?? "The SDK cannot look it up: check whether it exists before you send it again.",
      identifiers: recovery?.identifiers ?? {},
      isRetryable: recovery?.repeatable ?? false,
      cause,
    });
  }
}
