import type { Upload, UploadOpening } from "../binary/source.ts";
import type { TimelineEntry } from "../errors/base.ts";
import { attachCall, PodPartnerError, redactError } from "../errors/base.ts";
import { RequestTimeoutError } from "../errors/connection.ts";
import type { Issue } from "../errors/validation.ts";
import type { Assumptions } from "../schemas/assumptions.ts";
import { abortController } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { KeyedMutex } from "../util/concurrency.ts";
import { withOverrides } from "../util/fields.ts";
import { endingOf, propertyOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { Attempts } from "./attempts.ts";
import { CancelScope } from "./cancel-scope.ts";
import { unexpected } from "./connection-errors.ts";
import { type Endpoint, type EndpointInput, nameOf } from "./endpoint.ts";
import { newCallId, type Observer } from "./observer.ts";
import type { Pacer } from "./pacing/pacer.ts";
import type { Priority } from "./pacing/queue.ts";
import type { Pulse } from "./pulse.ts";
import type { Redact } from "./redact.ts";
import { type Draft, type EncodedRequest, encode, encodeUpload } from "./request.ts";
import {
  checkOptions,
  type HeaderEntries,
  joinedHeaders,
  type PartOptions,
  partOfCall,
  type RequestOptions,
  type RetryOptions,
} from "./request-options.ts";
import { type Arrival, decode, type ResponseMode, type ResponseUse } from "./response.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { CallTrace } from "./tracing.ts";
import type { Sender } from "./transport.ts";

/** What all calls of one client share. */
export interface Core {
  readonly baseUrl: string;
  readonly clock: PartnerClock;
  readonly transport: Sender;
  readonly pacer: Pacer;
  readonly observer: Observer;
  readonly redact: Redact;
  readonly responses: ResponseMode;
  readonly timeout: number;
  readonly deadline: number | undefined;
  readonly retry: RetryOptions;
  /** The priority of calls without one. */
  readonly priority: Priority | undefined;
  /** Headers of all calls. */
  readonly headers: HeaderEntries | undefined;
  readonly retryBudget: RetryBudget;
  /** Knows when this process last ran before a look-up ended: it may have been suspended. */
  readonly pulse: Pulse;
  /** Prepares creations one at a time when they would make each other's look-ups too old. */
  readonly creations: KeyedMutex;
  /** Milliseconds that the service may take for a creation after its request is sent. */
  readonly processingTime: number;
  /** Milliseconds until look-ups show a creation that the service has finished. */
  readonly lookupTime: number;
  /** Names of response fields that the specification does not show, by call. */
  readonly fields: Assumptions["fields"];
  /** The maximum size in bytes of a body that is read as text. */
  readonly maxResponseSize: number;
}

/** The data of a response, and the head of that response. */
export interface Found<Data> {
  readonly data: Data;
  readonly response: ResponseHead;
  /** The cursor of the rest of a list without pages. */
  readonly nextCursor?: string | undefined;
}

/** The options of a call that also apply to its other requests. `query` and `body` belong to the call's own request. */
type InheritedOption = Exclude<keyof RequestOptions, "signal" | "deadline" | "query" | "body">;

/** Fields that a step of a call fills in as it runs. */
type StepTrace = Pick<CallTrace, "status" | "policy" | "reason" | "outcome">;

/**
 * One call of a method: its checked options, its cancel scope, its timeline, and its attempts. Code that carries out the call writes the
 * request with it, sends it (`retry.ts`, `create-once.ts`), and reads the response with it.
 */
export class Call<Input extends EndpointInput = never, Data = unknown> {
  readonly core: Core;
  readonly endpoint: Endpoint<Input, Data>;
  /** The endpoint as errors and events name it. */
  readonly name: string;
  /** The same in all events, errors and traces of the call. */
  readonly id: string;
  /** Whether the SDK makes it as a part of another call. */
  readonly isPart: boolean;
  /** Whether it comes before all other calls: another call is sent right after it, and may keep its tokens until then. */
  readonly isUrgent: boolean;
  readonly options: RequestOptions;
  /** Milliseconds for each attempt. */
  readonly timeout: number;
  readonly retry: RetryOptions;
  readonly scope: CancelScope;
  /** The steps so far. */
  readonly timeline: TimelineEntry[] = [];
  readonly attempts: Attempts;
  /** The faults of the options, which are reported together with the faults of the input. */
  readonly #faults: readonly Issue[];
  #upload: UploadOpening<EncodedRequest> | undefined;
  /** Whether a download keeps the call open after its response. */
  #open = false;

  constructor(core: Core, endpoint: Endpoint<Input, Data>, given: RequestOptions) {
    const { options, faults } = checkOptions(given);
    const { signal, deadline = core.deadline, timeout = core.timeout, retry } = options;
    const { priority, headers } = core;
    this.#faults = faults;
    this.core = core;
    this.endpoint = endpoint;
    this.name = core.redact(nameOf(endpoint));
    this.id = options.callId === undefined ? newCallId() : core.redact(options.callId);
    this.isPart = propertyOf(given, partOfCall) !== undefined;
    this.isUrgent = propertyOf(given, partOfCall) === "urgent";
    this.options =
      priority === undefined && headers === undefined
        ? options
        : { ...options, priority: options.priority ?? priority, headers: joinedHeaders(headers, options.headers) };
    this.timeout = timeout;
    this.retry = retry === undefined ? core.retry : withOverrides(core.retry, retry || { retries: 0 });
    this.scope = new CancelScope(core.clock, signal, deadline);
    this.attempts = new Attempts(core.clock, core);
  }

  /** Checks the input and writes the request, or throws all faults of the input and the options at once. */
  encode(input: Input): EncodedRequest {
    this.scope.check();
    const request = encode(this.#draft(input));
    const warning = this.endpoint.warningFor?.((input as EndpointInput).body);
    if (warning !== undefined) this.core.observer.warnOnce("POD_PARTNER_UNLIKELY_INPUT", warning);
    return request;
  }

  /** The content of a JSON body as it is sent: the caller's own object may change while the call waits. */
  contentOf({ body }: EncodedRequest): unknown {
    const { request } = this.endpoint;
    return request.kind === "json" && typeof body === "string" ? JSON.parse(body)[request.field] : undefined;
  }

  #draft(input: Input): Draft {
    const { core, endpoint, options } = this;
    return { baseUrl: core.baseUrl, endpoint, input, options, faults: this.#faults };
  }

  /**
   * Checks the input of an upload and opens its source. It waits at most for the timeout of an attempt.
   *
   * @param prepare Reads the source, and returns an upload with the same content.
   */
  open(
    input: Input,
    prepare: (upload: Upload) => Upload | Promise<Upload> = (upload) => upload,
  ): Promise<EncodedRequest> {
    const { name: endpoint, timeout, scope } = this;
    // The source is opened even if the call has ended, so that it is closed in every case.
    this.#upload = encodeUpload(this.#draft(input));
    const made = this.#upload.made.then(async (request) => ({
      ...request,
      body: await prepare(request.body as Upload),
    }));
    // A failure after the end of the call is ignored.
    made.catch(() => undefined);
    return scope.hold(({ resolve, reject }) => {
      const stop = scope.clock.after(timeout, () =>
        reject(new RequestTimeoutError({ endpoint, timeout, opening: true })),
      );
      made.then(resolve, reject).finally(stop);
      return stop;
    });
  }

  /** Reads the data of a response and checks it: against the endpoint's schema, or only the fields that the SDK itself needs. */
  read(arrival: Arrival, needs?: ResponseUse["needs"]): Found<Data> {
    const { core, endpoint, name, id: callId } = this;
    this.#open = arrival.download?.modified === true;
    const { data, nextCursor } = decode(endpoint, arrival, {
      mode: core.responses,
      needs,
      redact: core.redact,
      fields: core.fields,
      onInvalid: (status, thrown, described) =>
        core.observer.reportInvalid({ callId, endpoint: name, status }, thrown, described),
    });
    return { data: data as Data, response: arrival.response, nextCursor };
  }

  /** Waits for a promise, at most until the call ends. */
  within<T>(promise: Promise<T>): Promise<T> {
    return this.scope.within(promise);
  }

  /** Runs one step of the call. The timeline, the traces and the log get its outcome: what `work` sets, or the name of its error. */
  step<T>(step: TimelineEntry["step"], work: (trace: StepTrace) => Promise<T>, url?: string): Promise<T> {
    const { core, scope, timeline } = this;
    const trace = this.traceOf(step);
    const began = scope.elapsed();
    const carryOut = async () => {
      try {
        return await work(trace);
      } catch (error) {
        trace.outcome ??= endingOf(error);
        trace.error = error;
        throw error;
      } finally {
        const took = tenths(scope.elapsed() - began);
        const { outcome = "done", reason } = trace;
        timeline.push({ step, at: tenths(began), took, outcome, ...(reason !== undefined && { reason }) });
        core.observer.logStep(trace, took);
      }
    };
    return core.observer.run(trace, carryOut, url);
  }

  /** The trace of the call or of one of its steps. */
  traceOf(kind: CallTrace["kind"]): CallTrace {
    const { core, id: callId, name, endpoint, isPart, attempts } = this;
    const { method, path } = endpoint;
    // The path of `partner.request` can contain anything.
    const template = endpoint.call.startsWith("request ") ? undefined : path;
    const attempt = kind === "attempt" ? attempts.count + 1 : undefined;
    // All as own fields: a polluted `Object.prototype` must not show through.
    const later = { status: undefined, policy: undefined, reason: undefined, outcome: undefined, error: undefined };
    return { kind, callId, endpoint: name, method, template, baseUrl: core.baseUrl, isPart, attempt, ...later };
  }

  /** The options of a request that is a part of this call. It has the signal of the call, unless another one is given. */
  partOptions(signal: AbortSignal | undefined = this.options.signal): PartOptions {
    const { timeout, headers, retry, priority } = this.options;
    const inherited = { timeout, headers, retry, priority, callId: this.id } satisfies Record<InheritedOption, unknown>;
    const remaining = this.scope.remaining();
    const deadline = Number.isFinite(remaining) ? Math.max(1, remaining) : undefined;
    return { signal, deadline, ...inherited, [partOfCall]: true };
  }

  /**
   * Sends other requests as a part of this call: they end when the call ends, and the timeline has one look-up with their outcome.
   */
  lookUp<T>(request: (options: RequestOptions) => Promise<T>, outcomeOf: (result: T) => string): Promise<T> {
    return this.step("lookup", async (trace) => {
      const result = await this.scope.hold<T>(({ resolve, reject }) => {
        // A look-up may send many requests, such as the pages of a list. All of them end with the call.
        const end = abortController();
        request(this.partOptions(end.signal)).then(resolve, reject);
        return (reason) => end.abort(reason);
      });
      trace.outcome = outcomeOf(result);
      return result;
    });
  }

  /** Adds the steps of a part of this call, which began `began` milliseconds after it. */
  addSteps(steps: readonly TimelineEntry[], began: number): void {
    this.timeline.push(...steps.map((step) => ({ ...step, at: tenths(step.at + began) })));
  }

  /** Adds the endpoint and the timeline to an error. */
  complete(thrown: unknown): unknown {
    const error = this.#typed(thrown);
    if (!(error instanceof PodPartnerError)) return error;
    const { name: endpoint, id: callId, timeline, attempts } = this;
    redactError(error, this.core.redact);
    attachCall(error, { endpoint, callId, timeline, identifiers: attempts.identifiers });
    return error;
  }

  /** Turns any thrown value into one of the SDK's errors, except the caller's own reason for an abort. */
  #typed(thrown: unknown): unknown {
    const known = thrown instanceof PodPartnerError || this.scope.ended(thrown);
    return known ? thrown : unexpected(thrown, this.core.redact);
  }

  /** Ends the call, unless a download keeps it open. */
  close(failed: boolean): void {
    if (failed || !this.#open) this.scope.close();
    this.#upload?.close();
  }
}

/** Milliseconds of a timeline, rounded to a tenth. */
const tenths = (ms: number): number => Math.round(ms * 10) / 10;
