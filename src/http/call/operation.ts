import type { Upload, UploadOpening } from "../../binary/source.ts";
import { attachCall, PodPartnerError } from "../../errors/base.ts";
import { type CallSite, withCallSite } from "../../errors/call-site.ts";
import { DeadlineError, RequestTimeoutError } from "../../errors/connection.ts";
import type { Issue } from "../../errors/validation.ts";
import { withOverrides } from "../../util/overrides.ts";
import type { FileCache } from "../cache/file-cache.ts";
import { optionFaults } from "../endpoint/check-options.ts";
import { type EncodedRequest, encode } from "../endpoint/encode.ts";
import { type Endpoint, type EndpointInput, nameOf } from "../endpoint/endpoint.ts";
import { noOptions, type RequestOptions } from "../endpoint/request-options.ts";
import { Attempts } from "../retry/attempts.ts";
import type { CallDetails } from "../retry/call-details.ts";
import { Creation } from "../retry/creation.ts";
import { askWithin, lookUntil } from "../retry/lookup.ts";
import type { Delivered, Found, Recovery } from "../retry/recovery.ts";
import { decode, type ResponseMode } from "../wire/decode.ts";
import type { Arrival } from "../wire/exchange.ts";
import { unexpected } from "../wire/thrown.ts";
import type { CallResult } from "./call.ts";
import { CancelScope } from "./cancel-scope.ts";
import type { Core, Delivery, Plan } from "./core.ts";
import { TimelineRecorder } from "./timeline-recorder.ts";

const ignore = () => undefined;

/** The content of the one field of a JSON body, as it was sent. */
const contentOf = ({ request }: Endpoint, { body }: EncodedRequest): unknown =>
  request.kind === "json" && typeof body === "string" ? JSON.parse(body)[request.field] : undefined;

/** Loads the cache of files. */
export type OpenFiles = () => Promise<FileCache>;

/** One call: `encode → recover( attempts → decode )`. */
export class Operation<Data> {
  readonly #call: CallDetails;
  readonly #attempts: Attempts;
  readonly #openFiles: OpenFiles | undefined;
  /** The faults of the options, which are reported together with the faults of the input. */
  readonly #faults: readonly Issue[];
  #callSite: CallSite | undefined;
  #recovery: Recovery<Data> | undefined;
  /** Whether a download keeps the call open after its response. */
  #open = false;

  constructor(
    core: Core,
    endpoint: Endpoint<never, Data>,
    given: RequestOptions,
    callSite: CallSite,
    openFiles: OpenFiles | undefined,
  ) {
    this.#callSite = callSite;
    this.#faults = given === noOptions ? [] : optionFaults(given);
    const options = this.#faults.length === 0 ? given : noOptions;
    const { signal, deadline = core.deadline, timeout = core.timeout, retry } = options;
    this.#call = {
      core,
      endpoint,
      name: nameOf(endpoint),
      options,
      timeout,
      retry: retry === undefined ? core.retry : withOverrides(core.retry, retry),
      scope: new CancelScope(core.clock, signal, deadline),
      recorder: new TimelineRecorder(core.clock),
      complete: (error) => this.#complete(error),
    };
    this.#attempts = new Attempts(this.#call);
    this.#openFiles = endpoint.response.kind === "binary" ? openFiles : undefined;
  }

  async run<Result>(input: EndpointInput, plan: Plan<Data, Result> | undefined): Promise<CallResult<Data | Result>> {
    const { core, endpoint, options, scope, recorder } = this.#call;
    let opening: UploadOpening<EncodedRequest> | undefined;
    try {
      // An upload's source is opened even if the call has ended, so that it is closed in every case.
      if (endpoint.request.kind !== "image") scope.check();
      const encoded = encode(core.baseUrl, endpoint, input, options, this.#faults);
      if ("made" in encoded) opening = encoded;
      const request = "made" in encoded ? await this.#opened(encoded, input.watch) : encoded;
      const { data, response, recovered } = await this.#deliver(request, plan);
      const shaped = plan === undefined ? data : plan.shape(data, { response, recovered });
      // The platform keeps parts of a call until its next major garbage collection: this frees the call site earlier.
      if (!this.#open) this.#callSite = undefined;
      return { data: shaped, response, timeline: recorder.entries };
    } catch (error) {
      this.#open = false;
      throw this.#complete(error);
    } finally {
      if (!this.#open) scope.close();
      opening?.close();
    }
  }

  /** Waits until an upload can be sent: its first bytes show whether it may be. It waits at most for the timeout of an attempt. */
  #opened(opening: UploadOpening<EncodedRequest>, watch: EndpointInput["watch"]): Promise<EncodedRequest> {
    const { name: endpoint, timeout, scope } = this.#call;
    const made =
      watch === undefined
        ? opening.made
        : opening.made.then(async (request) => {
            const body = await watch(request.body as Upload, (reason) => scope.end(reason));
            return { ...request, body };
          });
    // A failure after the end of the call is ignored.
    made.catch(ignore);
    return scope.hold(({ resolve, reject }) => {
      const stop = scope.clock.after(timeout, () =>
        reject(new RequestTimeoutError({ endpoint, timeout, opening: true })),
      );
      made.then(resolve, reject).finally(stop);
      return stop;
    });
  }

  async #deliver(request: EncodedRequest, plan: Plan<Data, unknown> | undefined): Promise<Delivered<Data>> {
    const { core, endpoint, scope } = this.#call;
    const mode = plan?.strict ? "throw" : core.responses;
    const { repeat } = endpoint;
    if (repeat === "safe" || repeat === "idempotent") {
      const attempts = this.#attempts;
      const own = plan?.strict ?? false;
      const read = async (arrival: Arrival): Promise<Delivered<Data>> => {
        if (plan?.beforeParsing !== undefined) await plan.beforeParsing(arrival.text);
        return { ...this.#read(arrival, mode), recovered: false };
      };
      const files = this.#openFiles && (await scope.within(this.#openFiles()));
      const whole = (sent: EncodedRequest) => attempts.succeed(sent, own, (arrival) => arrival);
      const run = async () =>
        files === undefined ? attempts.succeed(request, own, read) : read(await files.get(this.#call, request, whole));
      if (plan?.around === undefined) return run();
      return plan.around({ ...this.#steps(request), run, doubtfulUntil: () => attempts.doubtfulUntil });
    }

    this.#recovery = plan?.recovery?.(contentOf(endpoint, request));
    const creation = new Creation<Data>({
      call: this.#call,
      attempts: this.#attempts,
      request,
      recovery: this.#recovery,
      read: (arrival) => this.#read(arrival, mode),
    });
    if (plan?.around === undefined) return creation.run();
    return plan.around({
      ...this.#steps(request),
      run: (lookFor) => creation.run(lookFor),
      doubtfulUntil: () => creation.doubtfulUntil(),
    });
  }

  /** What a resource may do within the call besides sending its request. */
  #steps(request: EncodedRequest): Omit<Delivery<Data>, "run" | "doubtfulUntil"> {
    const { endpoint, scope } = this.#call;
    return {
      sent: () => contentOf(endpoint, request),
      within: (promise) => scope.within(promise),
      ask: (ask) => askWithin(this.#call, ask, () => "compared"),
      lookUntil: (until, look, outcomeOf) => lookUntil(this.#call, until, look, outcomeOf),
      aborted: (error) => scope.ended(error) && !(error instanceof DeadlineError),
    };
  }

  #read(arrival: Arrival, mode: ResponseMode): Found<Data> {
    const { core, endpoint, name } = this.#call;
    this.#open = arrival.download?.modified === true;
    const data = decode(endpoint, arrival, {
      mode,
      redact: core.redact,
      onInvalid: (status, issues) => core.observe("onInvalidResponse", { endpoint: name, status, issues }),
    }) as Data;
    return { data, response: arrival.response };
  }

  /** Adds the endpoint, the timeline and the caller's own stack line to an error. */
  #complete(thrown: unknown): unknown {
    const error = this.#typed(thrown);
    if (error instanceof PodPartnerError && this.#callSite !== undefined) {
      const { name, recorder } = this.#call;
      const identifiers = this.#attempts.inDoubt ? this.#recovery?.identifiers : undefined;
      attachCall(error, { endpoint: name, timeline: recorder.entries, identifiers });
      return withCallSite(error, this.#callSite);
    }
    return error;
  }

  /** Turns any thrown value into one of the SDK's errors, except the caller's own reason for an abort. */
  #typed(thrown: unknown): unknown {
    const { core, scope } = this.#call;
    return thrown instanceof PodPartnerError || scope.ended(thrown) ? thrown : unexpected(thrown, core.redact);
  }
}
