import { ApiError, type RateLimitError } from "../../errors/api.ts";
import { PodPartnerError } from "../../errors/base.ts";
import { ConnectionError } from "../../errors/connection.ts";
import { endingOf } from "../../util/foreign.ts";
import type { CancelScope } from "../call/cancel-scope.ts";
import type { Core } from "../call/core.ts";
import type { TimelineRecorder } from "../call/timeline-recorder.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { RequestOptions, RetryOptions } from "../endpoint/request-options.ts";
import type { Grant } from "../pacing/bucket/token-source.ts";
import { tooFarError } from "../pacing/distance.ts";
import type { RateLimitReport } from "../pacing/headers.ts";
import { SentBack } from "../pacing/queue/wait-queue.ts";
import { toApiError } from "../wire/error-mapping.ts";
import { type Arrival, exchange } from "../wire/exchange.ts";
import { redacted, snapshot } from "../wire/redact.ts";
import { askedDelay, backoff, isLost, isOverload, isRateLimited, maySendAgain, repeat } from "./retry.ts";

/** The call that attempts are made for. */
export interface Attempted {
  readonly core: Core;
  readonly endpoint: Endpoint<never, unknown>;
  /** The endpoint as errors and events name it. */
  readonly name: string;
  readonly options: RequestOptions;
  /** Milliseconds for each attempt. */
  readonly timeout: number;
  readonly retry: RetryOptions;
  readonly scope: CancelScope;
  readonly recorder: TimelineRecorder;
  /** Gives an error what it tells of the call. */
  readonly complete: (error: unknown) => unknown;
}

/** The attempts of one call: `retry( pace → send → observe → map the error )`. */
export class Attempts {
  readonly #call: Attempted;
  #count = 0;
  #inDoubt = false;
  #firstSentAt: number | undefined;
  #sentAt = 0;
  /** The latest 429, how long it is waited for, and whether that is done by holding its policies. */
  #refusal: { readonly error: RateLimitError; readonly ms: number; readonly held: boolean } | undefined;
  /** What the latest answer told of the limits. */
  #report: RateLimitReport = new Map();

  constructor(call: Attempted) {
    this.#call = call;
  }

  /** Whether a request is out, or was given up, that may have been carried out: no answer has told that it was not. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** It is settled what became of those requests. */
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

  /** Sends a request until it succeeds, or until another attempt cannot help. The SDK's `own` requests are outside the retry budget. */
  succeed(request: EncodedRequest, own = false): Promise<Arrival> {
    const { core, endpoint, retry, scope } = this.#call;
    const replayable = () => typeof request.body !== "object" || request.body.replayable;
    return repeat(
      async (number, error) => {
        if (number > 1) await this.pause(error, number - 1);
        return this.#attempt(request);
      },
      retry.retries,
      (error) =>
        !scope.ended(error) &&
        replayable() &&
        maySendAgain(error, endpoint.repeat) &&
        (askedDelay(error) ?? 0) <= retry.maxRetryAfter &&
        (own || isRateLimited(error) || core.retryBudget.spend()),
    );
  }

  /** Takes the tokens that the request needs, or waits in line for them. */
  async acquire(): Promise<Grant> {
    return this.#take() ?? (await this.#queueUp());
  }

  /** Gives tokens back that are not needed after all. */
  release(grant: Grant): void {
    this.#call.core.pacer.forget(grant);
  }

  /** Waits before the next attempt: as long as the answer asks, or else a backoff. */
  async pause(error: unknown, attempt: number): Promise<void> {
    const { core, retry, scope, recorder, name: endpoint } = this.#call;
    const asked = askedDelay(error);
    const refusal = this.#refusal?.error === error ? this.#refusal : undefined;
    const delay = refusal?.ms ?? asked ?? backoff(attempt, retry);
    const { name, status, code } = error instanceof PodPartnerError ? error : { name: "Error" };
    core.observe("onRetry", { endpoint, attempt, delay, error: name, status, code });
    if (refusal !== undefined) scope.allow(delay, "the rate limit's Retry-After", error);
    const done = recorder.begin(asked === undefined ? "backoff" : "retry-after");
    try {
      // A paced call waits in line behind the bucket that is held now, but for one that has something to look for in between.
      if (!(refusal?.held && core.paced && !this.#inDoubt)) await scope.sleep(delay, "waiting to try again", error);
    } finally {
      done(name);
    }
  }

  /** A gateway refused what is too fast. Where that slows the client down, sending it again is no part of a storm. */
  #slowed(): void {
    const { core, name } = this.#call;
    const length = core.pacer.slowedTo;
    if (length === 0 || !core.paced) return;
    core.retryBudget.forgive();
    core.observe("onPause", { endpoint: name, reason: "gateway-limit", policy: "default", length });
  }

  /** The service refused for want of a token: whoever draws from the same bucket waits, whatever becomes of this call. */
  #refused(error: RateLimitError): void {
    const { core, endpoint, retry, name } = this.#call;
    // One that asks for no wait at all would use up every attempt within an instant.
    const ms = Math.max(error.retryAfter ?? 0, backoff(this.#count, retry));
    // Where nobody would wait for as long as that, one looks now and then whether it is still so.
    const bearable = Math.min(ms, retry.maxRetryAfter);
    const sure = error.code === undefined || error.code === "rate_limited";
    const held = core.pacer.hold(endpoint, this.#report, bearable, sure, ms);
    this.#refusal = { error, ms, held: held.length > 0 };
    for (const policy of held) {
      core.observe("onPause", { endpoint: name, reason: "rate-limited", policy, length: ms });
    }
  }

  /** Sends at once where the tokens are there: whoever asked for it ahead may block the thread the next moment. */
  #attempt(request: EncodedRequest): Promise<Arrival> {
    const grant = this.#take();
    return grant === undefined ? this.#queueUp().then((late) => this.send(request, late)) : this.send(request, grant);
  }

  /** Sends a request once. */
  async send(request: EncodedRequest, grant: Grant): Promise<Arrival> {
    const { core, endpoint, name, retry, scope, recorder, complete } = this.#call;
    const timeout =
      endpoint.repeat === "recoverable" ? scope.timeoutBeforeLook(this.#call.timeout) : this.#call.timeout;
    const { transport, pacer, observe, redact, maxResponseSize } = core;
    const attempt = ++this.#count;
    const began = core.clock.now();
    const done = recorder.begin("attempt");
    observe("onRequest", { endpoint: name, attempt });
    let heard = false;
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
        timeout,
        redact,
        maxResponseSize,
        binary: endpoint.response.kind === "binary",
        onHead: ({ status, headers }) => {
          heard = true;
          const patience = retry.maxRetryAfter;
          this.#report = pacer.observe(endpoint, grant, redacted(headers, redact), { status, patience });
          observe("onResponse", { endpoint: name, attempt, status, took: core.clock.now() - began });
        },
        onUnread: (error) => observe("onUnreadDownload", { endpoint: name, error }),
        complete,
      });
      this.#accept(arrival, request.url);
      core.retryBudget.earn();
      done(String(arrival.response.status));
      return arrival;
    } catch (error) {
      if (!heard) pacer.forget(grant);
      if (isRateLimited(error)) this.#refused(error);
      if (isOverload(error)) this.#slowed();
      const didNothing = error instanceof ApiError ? !isLost(error) : error instanceof ConnectionError && !error.sent;
      if (didNothing) this.#inDoubt = inDoubtBefore;
      done(error instanceof ApiError ? String(error.status) : endingOf(error));
      throw error;
    }
  }

  /** Takes the tokens that the request needs, if they are there. */
  #take(): Grant | undefined {
    const { core, endpoint } = this.#call;
    return core.paced ? core.pacer.tryAcquire(endpoint) : core.pacer.takeAnyway(endpoint);
  }

  /** Waits in line for the tokens that the request needs. */
  async #queueUp(): Promise<Grant> {
    const { core, endpoint, name, options, retry, scope, recorder } = this.#call;
    this.#checkDistance();
    const { policy, ms } = core.pacer.waitOf(endpoint);
    // With a store the tokens may be there and only have to be fetched.
    if (ms > 0) core.observe("onPause", { endpoint: name, reason: "bucket-empty", policy, length: ms });
    const done = recorder.begin("queue");
    try {
      for (;;) {
        try {
          const priority = options.priority ?? "normal";
          return await core.pacer.acquire(endpoint, priority, scope, this.#count > 0, retry.maxRetryAfter);
        } catch (error) {
          if (scope.ended(error) || !(error instanceof SentBack)) throw error;
          this.#checkDistance();
        }
      }
    } finally {
      done(policy);
    }
  }

  /** Throws where the next token of a bucket is further away than this call waits, whatever header said so. */
  #checkDistance(): void {
    const { core, endpoint, name, retry } = this.#call;
    const far = core.pacer.tooFar(endpoint, retry.maxRetryAfter);
    if (far !== undefined) throw tooFarError(name, far, retry.maxRetryAfter);
  }

  /** Throws the typed error of an answer that is no success. */
  #accept({ response, text }: Arrival, url: string): void {
    const { core, endpoint, name } = this.#call;
    const { status, ok } = response;
    // A 304 is no redirect: it counts where it was asked for, and whoever decodes the answer tells where it was not.
    const accepted = endpoint.response.kind === "binary" ? (ok && status !== 202) || status === 304 : ok;
    if (accepted) return;
    throw toApiError({
      response: snapshot(response.status, response.headers, text, core.redact),
      headers: response.headers,
      endpoint: name,
      url,
      now: core.clock.now(),
    });
  }
}
