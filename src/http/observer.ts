import type { TimelineEntry } from "../errors/base.ts";
import { PodPartnerError } from "../errors/base.ts";
import { firstIssues, type Issue } from "../errors/validation.ts";
import { placeOf } from "../schemas/shape.ts";
import { endingOf, safely, wordsOf } from "../util/foreign.ts";
import { Latest } from "../util/latest.ts";
import { inOneLine } from "../util/visible.ts";
import type { Event, Hooks, InvalidResponseEvent } from "./events.ts";
import { type Level, type Logger, log } from "./logger.ts";
import { type CallTrace, failureIn, Tracing } from "./tracing.ts";

let callPrefix: string | undefined;
let callCount = 0;

/** The name of a call: the same random letters for all calls of this process, and a number. */
export function newCallId(): string {
  // At the first call: Workers have no random numbers before that.
  callPrefix ??= Math.random().toString(36).slice(2, 12);
  callCount += 1;
  return `${callPrefix}-${callCount}`;
}

const durationText = (ms: number): string => (ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`);

const lostText = (option: Event<"onStorageLost">["option"]): string =>
  option === "storage" ? "the storage" : `the storage of \`${option}\``;

/** The level and the text of each event that is logged. The others show in a step or at the end of a call. */
const logged: { readonly [Hook in keyof Hooks]?: (event: Event<Hook>) => readonly [level: Level, text: string] } = {
  onRetry: ({ endpoint, attempt, error, status, delay }) => [
    "warn",
    `${endpoint} attempt ${attempt} failed (${error}${status === undefined ? "" : ` ${status}`}), again in ${durationText(delay)}`,
  ],
  onPause: ({ endpoint, reason, policy, length }) => [
    "info",
    `${endpoint} waits for its turn${length > 0 ? `, about ${durationText(length)}` : ""}: ${reason} (${policy})`,
  ],
  onInvalidResponse: ({ endpoint, status, issues, returned }) => [
    returned ? "warn" : "error",
    `${endpoint} ${status} breaks the specification: ${issues.length === 1 ? "1 issue" : `${issues.length} issues`}`,
  ],
  onUnreadDownload: ({ endpoint, error }) => ["warn", `${endpoint} was not read in time and was canceled (${error})`],
  onStorageLost: ({ option, reason }) => ["warn", `${lostText(option)} cannot be reached: ${reason}`],
  onStorageBack: ({ option }) => ["info", `${lostText(option)} can be reached again`],
};

/** How many faulty places are remembered. A forgotten one is reported again. */
const maxPlaces = 2_000;

/** The edge runtime of Next.js has an `emitWarning` that throws. */
const warnProcess = (text: string, code: string): void =>
  safely(() => globalThis.process?.emitWarning?.(`pod-partner: ${text}`, { code }));

const warnedOf = new Set<string>();

/** Process warnings for a program without a hook and a logger. */
const warnings: Hooks = {
  onStorageLost({ option, reason }) {
    const effect =
      option === "storage" ? "The client remembers nothing, and orders and claims wait" : "This process paces itself";
    const text = `${lostText(option)} cannot be reached (${inOneLine(reason)}). ${effect} until it is back.`;
    warnProcess(text, "POD_PARTNER_STORAGE_LOST");
  },
  onUnreadDownload({ endpoint, error }) {
    if (warnedOf.has(endpoint)) return;
    warnedOf.add(endpoint);
    const text = `the download of ${endpoint} was not read in time and was canceled (${error}). Read it, or call its cancel().`;
    warnProcess(text, "POD_PARTNER_UNREAD_DOWNLOAD");
  },
};

/** Shows what a client does: events to its hooks, calls and their steps to tracers, and all of it to the logger. */
export class Observer extends Tracing {
  readonly #hooks: Hooks | undefined;
  readonly #logger: Logger | undefined;
  readonly #warned = new Set<string>();
  /** The faulty places that were reported. */
  readonly #places = new Latest<true>(maxPlaces);

  constructor(hooks: Hooks | undefined, logger: Logger | undefined) {
    super();
    this.#hooks = hooks;
    this.#logger = logger;
  }

  observe<Hook extends keyof Hooks>(hook: Hook, event: Event<Hook>): void {
    if (this.#hooks === undefined && this.#logger === undefined && warnings[hook] === undefined) return;
    const entry = this.#logger && logged[hook]?.(event);
    if (entry !== undefined) log(this.#logger, ...entry, event);
    safely(
      () => {
        const hooks = this.#hooks?.[hook] === undefined && this.#logger === undefined ? warnings : this.#hooks;
        // Called as a method: the hooks may be an instance of a class.
        return (hooks?.[hook] as ((event: Event<Hook>) => void) | undefined)?.call(hooks, event);
      },
      (error) => log(this.#logger, "error", `the hook ${hook} threw`, { error: wordsOf(error) }),
    );
  }

  /**
   * Reports the faults of a response: those that the call fails for each time, those of descriptive fields once for each endpoint and place.
   */
  reportInvalid(
    of: Pick<InvalidResponseEvent, "callId" | "endpoint" | "status">,
    thrown: readonly Issue[],
    described: readonly Issue[],
  ): void {
    const isNew = ({ path }: Issue) => {
      const place = `${of.endpoint} ${placeOf(path)}`;
      const known = this.#places.get(place);
      this.#places.set(place, true);
      return known === undefined;
    };
    const issues = [...thrown, ...described.filter(isNew)];
    if (issues.length === 0) return;
    this.observe("onInvalidResponse", { ...of, issues: firstIssues(issues), returned: thrown.length === 0 });
  }

  /** Warns once: in the log, or as a warning of the process if there is no logger. */
  warnOnce(code: string, text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    if (this.#logger !== undefined) log(this.#logger, "warn", text, { code });
    else warnProcess(text, code);
  }

  /** Reports that a call waits for a lock in the storage, or for the storage itself. */
  reportLockWait(reason: "other-process" | "storage", callId: string, endpoint: string): void {
    this.observe("onPause", { callId, endpoint, reason, policy: "default", length: 0 });
  }

  /** Logs a step of a call that has ended. */
  logStep({ kind, callId, endpoint, attempt, policy, reason, outcome }: CallTrace, took: number): void {
    if (this.#logger === undefined) return;
    const step = attempt === undefined ? kind : `attempt ${attempt}`;
    const why = reason === undefined ? "" : ` (${reason})`;
    const text = `${endpoint} ${step}: ${outcome}${why} in ${durationText(took)}`;
    log(this.#logger, "debug", text, { callId, endpoint, step: kind, attempt, outcome, policy, reason, took });
  }

  /** Logs a call that has ended. A part of another call is a detail. */
  logCall(trace: CallTrace, timeline: readonly TimelineEntry[], elapsed: () => number): void {
    if (this.#logger === undefined) return;
    const { callId, endpoint, isPart, status, error } = trace;
    const took = elapsed();
    const attempts = timeline.filter(({ step }) => step === "attempt").length;
    const queued = timeline.reduce((sum, entry) => sum + (entry.step === "queue" ? entry.took : 0), 0);
    const failure = failureIn(trace);
    const outcome = failure === undefined ? (status ?? "done") : failureOf(error);
    const repeated = attempts > 1 ? `, ${attempts} attempts` : "";
    const waited = queued >= 1 ? `, ${durationText(queued)} of it in the queue` : "";
    const level = PodPartnerError.isInstance(error) ? "warn" : "info";
    const { code, docs } = failure instanceof PodPartnerError ? failure : {};
    log(this.#logger, isPart ? "debug" : level, `${endpoint} ${outcome} in ${durationText(took)}${repeated}${waited}`, {
      callId,
      endpoint,
      status,
      took: Math.round(took * 10) / 10,
      attempts,
      queued,
      error: failure === undefined ? undefined : endingOf(failure),
      code,
      docs,
    });
  }
}

/** An error in a line of the log. Its message can quote the caller's data. */
function failureOf(error: unknown): string {
  if (!(error instanceof PodPartnerError)) return "aborted";
  const { name, status, code } = error;
  return `failed: ${[name, status, code].filter((part) => part !== undefined).join(" ")}`;
}
