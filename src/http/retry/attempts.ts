import { ApiError, type RateLimitError } from "../../errors/api.ts";
import { PodPartnerError } from "../../errors/base.ts";
import { ConnectionError } from "../../errors/connection.ts";
import { endingOf } from "../../util/foreign.ts";
import type { HeaderFields } from "../../util/response-head.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import type { RateLimitReport } from "../pacing/headers.ts";
import type { Permit } from "../pacing/pacer.ts";
import { type Arrival, exchange } from "../wire/exchange.ts";
import { assertAccepted } from "./accept.ts";
import type { CallDetails } from "./call-details.ts";
import { queueForTokens, takeTokens } from "./queueing.ts";
import { backoff, isLost, isOverload, isRateLimited, maySendAgain, repeat, retryAfterOf } from "./retry.ts";

/** Whether an error shows that the service did not carry out the request. */
const didNothing = (error: unknown): boolean =>
  error instanceof ApiError ? !isLost(error) : error instanceof ConnectionError && !error.sent;

/** The attempts of one call: `retry( pace → send → observe → map the error )`. */
export class Attempts {
  readonly #call: CallDetails;
  #count = 0;
  #inDoubt = false;
  #firstSentAt: number | undefined;
  #sentAt = 0;
  /** The latest 429, how long the call waits after it, and whether its policies are held for that time. */
  #refusal: { readonly error: RateLimitError; readonly ms: number; readonly held: boolean } | undefined;
  /** The rate limits that the latest response reported. */
  #report: RateLimitReport = new Map();

  constructor(call: CallDetails) {
    this.#call = call;
  }

  /** Whether the service may have carried out a request that has no response. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** Records that the outcome of those requests is known. */
  settle(): void {
    this.#inDoubt = false;
  }

  /** When the first request was sent, by the clock; undefined before that. */
  get firstSentAt(): number | undefined {
    return this.#firstSentAt;
  }

  /** When the latest request was sent, by the clock. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /**
   * Sends a request until it succeeds, or fails with an error that no retry may follow. The retry budget does not limit the SDK's `own`
   * requests.
   */
  succeed(request: EncodedRequest, own = false): Promise<Arrival> {
    const { core, endpoint, retry, scope } = this.#call;
    const replayable = () => typeof request.body !== "object" || request.body.replayable;
    return repeat(
      (number, error) =>
        number === 1 ? this.#attempt(request) : this.waitToRetry(error, number - 1).then(() => this.#attempt(request)),
      retry.retries,
      (error) =>
        !scope.ended(error) &&
        replayable() &&
        maySendAgain(error, endpoint.repeat) &&
        (retryAfterOf(error) ?? 0) <= retry.maxRetryAfter &&
        (own || isRateLimited(error) || core.retryBudget.spend()),
    );
  }

  /** Takes the tokens that the request needs, or waits in the queue for them. */
  async acquire(): Promise<Permit> {
    return takeTokens(this.#call) ?? (await this.#queue());
  }

  /** Returns tokens that the call does not need. */
  release(permit: Permit): void {
    this.#call.core.pacer.forget(permit);
  }

  /** Waits before the next attempt: for the response's `Retry-After`, or else for a backoff. */
  async waitToRetry(error: unknown, attempt: number): Promise<void> {
    const { core, retry, scope, recorder, name: endpoint } = this.#call;
    const retryAfter = retryAfterOf(error);
    const refusal = this.#refusal?.error === error ? this.#refusal : undefined;
    const delay = refusal?.ms ?? retryAfter ?? backoff(attempt, retry);
    const { name, status, code } = error instanceof PodPartnerError ? error : { name: "Error" };
    core.observe("onRetry", { endpoint, attempt, delay, error: name, status, code });
    if (refusal !== undefined) scope.allow(delay, "the rate limit's Retry-After", error);
    const done = recorder.begin(retryAfter === undefined ? "backoff" : "retry-after");
    try {
      // A paced call waits in the queue of the held bucket. A creation in doubt waits here, and is looked up after the wait.
      if (!(refusal?.held && core.paced && !this.#inDoubt))
        await scope.sleep(delay, "the wait before the next attempt", error);
    } finally {
      done(name);
    }
  }

  /** The service refused a request for its rate limit: all calls that draw from the same bucket wait, also if this call fails. */
  #refused(error: RateLimitError): void {
    const { core, endpoint, retry } = this.#call;
    // Without a minimum, a `Retry-After` of 0 would use up all attempts at once.
    const ms = Math.max(error.retryAfter ?? 0, backoff(this.#count, retry));
    // No call waits longer than `maxRetryAfter`: after that time a probe checks whether the bucket is still empty.
    const held = Math.min(ms, retry.maxRetryAfter);
    const sure = error.code === undefined || error.code === "rate_limited";
    const policies = core.pacer.hold(endpoint, this.#report, held, sure, ms);
    this.#refusal = { error, ms, held: policies.length > 0 };
  }

  /** Sends at once if there are tokens: the caller's code may block the thread right after this. */
  #attempt(request: EncodedRequest): Promise<Arrival> {
    const permit = takeTokens(this.#call);
    return permit === undefined ? this.#queue().then((late) => this.send(request, late)) : this.send(request, permit);
  }

  /** Sends a request once. */
  async send(request: EncodedRequest, permit: Permit): Promise<Arrival> {
    const { core, endpoint, name, timeout, scope, recorder, complete } = this.#call;
    const { transport, pacer, observe, redact, maxResponseSize } = core;
    const attempt = ++this.#count;
    const began = core.clock.now();
    const done = recorder.begin("attempt");
    observe("onRequest", { endpoint: name, attempt });
    let responded = false;
    const inDoubtBefore = this.#inDoubt;
    this.#inDoubt = true;
    this.#sentAt = began;
    this.#firstSentAt ??= began;
    try {
      const arrival = await exchange({
        transport,
        request,
        scope,
        endpoint: name,
        timeout: endpoint.repeat === "recoverable" ? scope.timeoutBeforeLook(timeout) : timeout,
        redact,
        maxResponseSize,
        binary: endpoint.response.kind === "binary",
        onHead: ({ status, headers }) => {
          responded = true;
          this.#learn(permit, headers, status);
          observe("onResponse", { endpoint: name, attempt, status, took: core.clock.now() - began });
        },
        onUnread: (error) => observe("onUnreadDownload", { endpoint: name, error }),
        complete,
      });
      assertAccepted(this.#call, arrival, request.url);
      core.retryBudget.earn();
      done(String(arrival.response.status));
      return arrival;
    } catch (error) {
      if (!responded) pacer.forget(permit);
      if (isRateLimited(error)) this.#refused(error);
      // The client now sends at a lower rate, so a retry after a gateway's refusal does not use the retry budget.
      if (isOverload(error) && core.paced && pacer.slowed) core.retryBudget.forgive();
      if (didNothing(error)) this.#inDoubt = inDoubtBefore;
      done(error instanceof ApiError ? String(error.status) : endingOf(error));
      throw error;
    }
  }

  #queue(): Promise<Permit> {
    return queueForTokens(this.#call, this.#count > 0);
  }

  /** Learns the rate limits from the head of a response. */
  #learn(permit: Permit, headers: HeaderFields, status: number): void {
    const { core, endpoint, retry } = this.#call;
    const { pacer, redact } = core;
    this.#report = pacer.observe(endpoint, permit, headers, { status, patience: retry.maxRetryAfter, redact });
  }
}
