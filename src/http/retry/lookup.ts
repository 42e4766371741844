import { PodPartnerError } from "../../errors/base.ts";
import { endingOf } from "../../util/foreign.ts";
import type { RequestOptions } from "../endpoint/request-options.ts";
import type { Attempts } from "./attempts.ts";
import type { CallDetails } from "./call-details.ts";
import type { Delivered, Recovery } from "./recovery.ts";
import { search } from "./search.ts";

/** A look-up that is older than this, in milliseconds, is repeated before the creation is retried. */
const outdated = 1_000;

/** The look-ups of one creation. Without a recovery they find nothing and send nothing. */
export class Lookup<Data> {
  readonly #call: CallDetails;
  readonly #attempts: Attempts;
  readonly #recovery: Recovery<Data> | undefined;
  /** When the latest look-up began, in milliseconds since the call began. */
  #lookedAt = 0;

  constructor(call: CallDetails, attempts: Attempts, recovery: Recovery<Data> | undefined) {
    this.#call = call;
    this.#attempts = attempts;
    this.#recovery = recovery;
  }

  /** Whether the latest look-up is too old to allow a retry of the creation. */
  get outdated(): boolean {
    return this.#call.scope.elapsed() - this.#lookedAt >= outdated;
  }

  /** Repeats the look-up for `time` milliseconds, before the first request or after it. */
  async search(time: number, when: "before" | "after"): Promise<Delivered<Data> | undefined> {
    if (this.#recovery === undefined) return undefined;
    return searchWithin(this.#call, time, (decides) => this.#look(when, decides));
  }

  /** Looks up the creation once more if the latest look-up is outdated. */
  async refresh(): Promise<Delivered<Data> | undefined> {
    return this.outdated ? this.#look("after", true) : undefined;
  }

  /** Looks up the creation once. Before the first request the look-up has the call's priority; later its priority is high. */
  async #look(when: "before" | "after", decides: boolean): Promise<Delivered<Data> | undefined> {
    const recovery = this.#recovery;
    if (recovery === undefined) return undefined;
    const { core, options, scope } = this.#call;
    this.#lookedAt = scope.elapsed();
    const sentAt = this.#attempts.firstSentAt ?? core.clock.now();
    const priority = when === "before" ? options.priority : "high";
    const found = await lookOnce(this.#call, decides, (own) => recovery.look({ ...own, priority }, sentAt));
    return found && { ...found, recovered: true };
  }
}

/** Repeats a look-up for `time` milliseconds within a call. */
function searchWithin<T>(
  { scope }: CallDetails,
  time: number,
  look: (decides: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  const maySucceedLater = (error: unknown) =>
    !scope.ended(error) && error instanceof PodPartnerError && error.isRetryable;
  return search(scope, time, look, maySucceedLater);
}

/** Looks up once within a call. Another look-up follows one that does not decide. */
function lookOnce<T>(
  call: CallDetails,
  decides: boolean,
  look: (options: RequestOptions) => Promise<T | undefined>,
  outcomeOf: (found: T) => string = () => "found",
): Promise<T | undefined> {
  const retry = decides ? call.options.retry : { ...call.options.retry, retries: 0 };
  return askWithin(
    call,
    (own) => look({ ...own, priority: "high", retry }),
    (result) => (result === undefined ? "not found" : outcomeOf(result)),
  );
}

/** Repeats a look-up within a call until a time by the clock, and at least once. */
export function lookUntil<T>(
  call: CallDetails,
  until: number,
  look: (options: RequestOptions) => Promise<T | undefined>,
  outcomeOf: (found: T) => string,
): Promise<T | undefined> {
  const time = Math.max(0, until - call.core.clock.now());
  return searchWithin(call, time, (decides) => lookOnce(call, decides, look, outcomeOf));
}

/** The options of a call that also apply to its look-ups. `query` and `body` belong to the call's own request. */
type InheritedOption = Exclude<keyof RequestOptions, "signal" | "deadline" | "query" | "body">;

/** Sends another request as a part of a call: it ends when the call ends, and is in the call's timeline with the outcome. */
export async function askWithin<T>(
  { scope, recorder, options }: CallDetails,
  request: (options: RequestOptions) => Promise<T>,
  outcomeOf: (result: T) => string,
): Promise<T> {
  const { timeout, headers, retry, priority } = options;
  const inherited = { timeout, headers, retry, priority } satisfies Record<InheritedOption, unknown>;
  const remaining = scope.remaining();
  const done = recorder.begin("lookup");
  try {
    const result = await scope.hold<T>(({ resolve, reject }) => {
      // A look-up may send many requests, such as the pages of a list. All of them end with the call.
      const end = new AbortController();
      const deadline = Number.isFinite(remaining) ? Math.max(1, remaining) : undefined;
      request({ signal: end.signal, deadline, ...inherited }).then(resolve, reject);
      return (reason) => end.abort(reason);
    });
    done(outcomeOf(result));
    return result;
  } catch (error) {
    done(endingOf(error));
    throw error;
  }
}
