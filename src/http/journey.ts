import { ApiError } from "../errors/api.ts";
import { attachCall, PodPartnerError } from "../errors/base.ts";
import { type CallSite, captureCallSite, framesOf } from "../errors/call-site.ts";
import { ConnectionError } from "../errors/connection.ts";
import type { Issue } from "../errors/validation.ts";
import { withSome } from "../util/some.ts";
import type { Answer } from "./call.ts";
import type { Core, Plan } from "./core.ts";
import { decode } from "./decode.ts";
import { type EncodedRequest, encode, nameOf } from "./encode.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import { toApiError } from "./error-mapping.ts";
import { type Arrival, exchange } from "./exchange.ts";
import { Journal } from "./journal.ts";
import { Lifeline } from "./lifeline.ts";
import { optionFaults } from "./option-faults.ts";
import type { RateLimitReport } from "./pacing/headers.ts";
import type { Grant } from "./pacing/tokens.ts";
import { type Found, type Recovery, recovering } from "./recovery.ts";
import { noOptions, type RequestOptions, type RetryOptions } from "./request-options.ts";
import { askedDelay, backoff, isRateLimited, maySendAgain, repeating } from "./retry.ts";
import { redacted, snapshot } from "./snapshot.ts";

/** From `captureCallSite` to the pipeline's `send`: what lies between the resource's method and the capture. */
const insideFrames = 3;

const ignore = () => undefined;

/** One call on its way. */
export class Journey<Data> {
  readonly #core: Core;
  readonly #endpoint: Endpoint<never, Data>;
  readonly #options: RequestOptions;
  /** What is wrong with the options: told with what is wrong with the input. */
  readonly #faults: readonly Issue[];
  readonly #name: string;
  readonly #retry: RetryOptions;
  readonly #lifeline: Lifeline;
  readonly #journal: Journal;
  #callSite: CallSite | undefined;
  #attempts = 0;
  #inDoubt = false;
  /** Whether a download keeps the call alive beyond its answer. */
  #open = false;
  #report: RateLimitReport = new Map();

  constructor(core: Core, endpoint: Endpoint<never, Data>, options: RequestOptions) {
    this.#callSite = captureCallSite();
    this.#core = core;
    this.#endpoint = endpoint;
    this.#name = nameOf(endpoint);
    this.#journal = new Journal(core.clock);
    this.#faults = options === noOptions ? [] : optionFaults(options);
    this.#options = this.#faults.length === 0 ? options : noOptions;
    const { retry, signal, deadline } = this.#options;
    this.#retry = retry === undefined ? core.retry : withSome(core.retry, retry);
    this.#lifeline = new Lifeline(core.clock, signal, deadline ?? core.deadline);
  }

  async run<Result>(input: EndpointInput, plan: Plan<Data, Result>): Promise<Answer<Result>> {
    let encoded: EncodedRequest | Promise<EncodedRequest> | undefined;
    try {
      this.#lifeline.check();
      encoded = encode(this.#core.baseUrl, this.#endpoint, input, this.#options, this.#faults);
      const request = encoded instanceof Promise ? await this.#lifeline.within(encoded) : encoded;
      const { data, response, recovered } = await this.#deliver(request, plan);
      // The platform keeps parts of a call until its next major collection: they shall be light.
      if (!this.#open) this.#callSite = undefined;
      return { data: plan.shape(data, recovered), response, attempts: this.#journal.entries };
    } catch (error) {
      this.#open = false;
      throw this.#complete(error);
    } finally {
      if (!this.#open) this.#lifeline.close();
      // An upload, whether it was sent or not: the call may have ended while it was being opened.
      if (encoded instanceof Promise) encoded.then(({ body }) => typeof body === "object" && body.close(), ignore);
    }
  }

  async #deliver(request: EncodedRequest, plan: Plan<Data, unknown>): Promise<Found<Data> & { recovered: boolean }> {
    const { lost } = this.#endpoint;
    if (lost === "safe" || lost === "idempotent") return { ...(await this.#receive(request)), recovered: false };
    return recovering(() => this.#receive(request), {
      endpoint: this.#name,
      lifeline: this.#lifeline,
      retry: this.#retry,
      timeout: this.#options.timeout ?? this.#core.timeout,
      recovery: plan.recovery?.(),
      inDoubt: () => this.#inDoubt,
      look: (known) => this.#look(known),
      maySendAgain: () => this.#core.retryBudget.spend(),
      pause: (error, attempt) => this.#pause(error, attempt),
    });
  }

  async #receive(request: EncodedRequest): Promise<Found<Data>> {
    const arrival = await this.#attempt(request).catch((error: unknown) => this.#repeat(error, request));
    return { data: this.#decode(arrival), response: arrival.response };
  }

  /** Nearly every call succeeds at once: only one that has failed takes on what a series of attempts needs. */
  #repeat(first: unknown, request: EncodedRequest): Promise<Arrival> {
    const replayable = () => typeof request.body !== "object" || request.body.replayable;
    return repeating(
      first,
      () => this.#attempt(request),
      this.#retry,
      (error) =>
        !this.#lifeline.ended(error) &&
        replayable() &&
        maySendAgain(error, this.#endpoint.lost) &&
        (isRateLimited(error) || this.#core.retryBudget.spend()),
      (error, attempt) => this.#pause(error, attempt),
    );
  }

  async #attempt(request: EncodedRequest): Promise<Arrival> {
    const { transport, observe } = this.#core;
    const grant = this.#take() ?? (await this.#queueUp());
    const endpoint = this.#name;
    const attempt = ++this.#attempts;
    const began = this.#core.clock.now();
    const done = this.#journal.begin("attempt");
    observe("onRequest", { endpoint, attempt });
    let heard = false;
    this.#inDoubt = true;
    try {
      const arrival = await exchange({
        transport,
        request,
        lifeline: this.#lifeline,
        endpoint,
        timeout: this.#options.timeout ?? this.#core.timeout,
        redact: this.#core.redact,
        maxResponseSize: this.#core.maxResponseSize,
        binary: this.#endpoint.response.kind === "binary",
        onHead: ({ status, headers }) => {
          heard = true;
          this.#report = this.#core.pacer.observe(this.#endpoint, grant, redacted(headers, this.#core.redact));
          observe("onResponse", { endpoint, attempt, status, took: this.#core.clock.now() - began });
        },
        complete: (error) => this.#complete(error),
      });
      this.#open = arrival.download?.modified === true;
      this.#accept(arrival, request.url);
      this.#core.retryBudget.earn();
      done(String(arrival.response.status));
      return arrival;
    } catch (error) {
      if (!heard) this.#core.pacer.forget(grant);
      const refused = error instanceof ApiError && error.status < 500;
      if (refused || (error instanceof ConnectionError && !error.sent)) this.#inDoubt = false;
      done(error instanceof ApiError ? String(error.status) : error instanceof Error ? error.name : "aborted");
      throw error;
    }
  }

  /** Takes the tokens that the request needs, if they are there. */
  #take(): Grant | undefined {
    const { pacer, paced } = this.#core;
    return paced ? pacer.tryAcquire(this.#endpoint) : pacer.takeAnyway(this.#endpoint);
  }

  /** Waits in line for the tokens that the request needs. */
  async #queueUp(): Promise<Grant> {
    const { pacer, observe } = this.#core;
    const { policy, ms } = pacer.waitOf(this.#endpoint);
    // With a store the tokens may be there and only have to be fetched.
    if (ms > 0) observe("onPause", { endpoint: this.#name, reason: "bucket-empty", policy, length: ms });
    const done = this.#journal.begin("queue");
    try {
      const priority = this.#options.priority ?? "normal";
      return await pacer.acquire(this.#endpoint, priority, this.#lifeline, this.#attempts > 0);
    } finally {
      done(policy);
    }
  }

  /** Throws the typed error of an answer that is no success. */
  #accept({ response, text, download }: Arrival, url: string): void {
    const ready = response.ok && !(this.#endpoint.response.kind === "binary" && response.status === 202);
    if (ready || (download !== undefined && response.status === 304)) return;
    throw toApiError({
      response: snapshot(response.status, response.headers, text, this.#core.redact),
      headers: response.headers,
      endpoint: this.#name,
      url,
      now: this.#core.clock.now(),
    });
  }

  #decode(arrival: Arrival): Data {
    return decode(this.#endpoint, arrival, {
      mode: this.#core.responses,
      redact: this.#core.redact,
      onInvalid: (status, issues) => this.#core.observe("onInvalidResponse", { endpoint: this.#name, status, issues }),
    }) as Data;
  }

  /** Waits before the next attempt: as long as the answer asks, or else a backoff. */
  async #pause(error: unknown, attempt: number): Promise<void> {
    const asked = askedDelay(error);
    const delay = asked ?? backoff(attempt, this.#retry);
    const { name, status, code } = error instanceof PodPartnerError ? error : { name: "Error" };
    this.#core.observe("onRetry", { endpoint: this.#name, attempt, delay, error: name, status, code });
    if (isRateLimited(error)) this.#holdPolicies(delay, error);
    const done = this.#journal.begin(asked === undefined ? "backoff" : "retry-after");
    try {
      // A paced call waits in line behind the bucket that is held now.
      if (!(isRateLimited(error) && this.#core.paced)) await this.#lifeline.sleep(delay, "waiting to try again", error);
    } finally {
      done(name);
    }
  }

  #holdPolicies(ms: number, error: unknown): void {
    this.#lifeline.allow(ms, "the rate limit's Retry-After", error);
    for (const policy of this.#core.pacer.hold(this.#endpoint, this.#report, ms)) {
      this.#core.observe("onPause", { endpoint: this.#name, reason: "rate-limited", policy, length: ms });
    }
  }

  async #look(recovery: Recovery<Data>) {
    const done = this.#journal.begin("lookup");
    const remaining = this.#lifeline.remaining();
    try {
      const found = await recovery.look({
        signal: this.#options.signal,
        deadline: Number.isFinite(remaining) ? Math.max(1, remaining) : undefined,
        priority: "high",
        timeout: this.#options.timeout,
        headers: this.#options.headers,
        retry: this.#options.retry,
      });
      done(found === undefined ? "not found" : "found");
      return found;
    } catch (error) {
      done(error instanceof Error ? error.name : "aborted");
      throw error;
    }
  }

  /** Gives an error its endpoint, its timeline and the caller's own line. */
  #complete(error: unknown): unknown {
    if (error instanceof PodPartnerError && this.#callSite !== undefined) {
      attachCall(error, {
        endpoint: this.#name,
        attempts: this.#journal.entries,
        callSite: framesOf(this.#callSite, insideFrames),
      });
    }
    return error;
  }
}
