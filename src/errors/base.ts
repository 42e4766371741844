import { attempt, isObject } from "../util/foreign.ts";
import { inOneLine, mapTexts, visible } from "../util/visible.ts";

/** Maximum characters of foreign text that a message quotes. */
const maxQuoted = 80;

/** Truncates a text that a message quotes: a caller can pass megabytes by mistake. */
export const shorten = (text: string, most = maxQuoted): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/** One step of a call: a wait in the queue, an attempt, a wait before a retry, a look-up, or a wait between two polls. */
export interface TimelineEntry {
  /** The kind of the step. */
  readonly step: "queue" | "attempt" | "backoff" | "retry-after" | "poll" | "lookup";
  /** The start of the step, in milliseconds since the call began. */
  readonly at: number;
  /** The duration of the step, in milliseconds. */
  readonly took: number;
  /**
   * The result of the step: an HTTP status, the name of an error, or a word such as `waited`. For the step `queue` it is the rate-limit
   * policy, or `default` for a limit without a policy.
   */
  readonly outcome: string;
  /** Why a call waited in the queue for more than 300 ms: a `PauseReason`, for example `fair-share`; undefined for other steps. */
  readonly reason?: string | undefined;
}

/** The number of first and last steps that the table shows of a long call. */
const shown = { first: 8, last: 12 };

/** Shortens a text to one line of at most 40 characters. */
const cell = (text: string): string => inOneLine(text.replace(/\s+/g, " ")).slice(0, 40);
const ms = (time: number): string => `${Math.round(time)} ms`;

type TimelineRow = readonly [what: string, outcome: string, began: string, took: string];

const lineOf = ({ step, outcome, reason, at, took }: TimelineEntry): TimelineRow => [
  step,
  cell(reason === undefined ? outcome : `${outcome} (${reason})`),
  ms(at),
  ms(took),
];

/**
 * Formats a timeline as a table: each step with its outcome, its start since the beginning of the call, and its duration.
 * Empty for a call of a single attempt, which the error message already describes.
 */
export function timelineTable(entries: readonly TimelineEntry[]): string {
  if (entries.length < 2 && entries.every(({ step }) => step === "attempt")) return "";
  const left = entries.length - shown.first - shown.last;
  const lines: TimelineRow[] = [["step", "outcome", "began", "took"]];
  if (left > 1) {
    lines.push(...entries.slice(0, shown.first).map(lineOf), ["…", `${left} more`, "", ""]);
    lines.push(...entries.slice(-shown.last).map(lineOf));
  } else {
    lines.push(...entries.map(lineOf));
  }
  const total = entries.reduce((end, { at, took }) => Math.max(end, at + took), 0);
  lines.push(["total", "", "", ms(total)]);

  const widthOf = (column: 0 | 1 | 2 | 3) => Math.max(...lines.map((line) => line[column].length));
  const [what, outcome, began, took] = [widthOf(0), widthOf(1), widthOf(2), widthOf(3)];
  const written = lines.map(
    (line) =>
      `  ${line[0].padEnd(what)}  ${line[1].padEnd(outcome)}  ${line[2].padStart(began)}  ${line[3].padStart(took)}`,
  );
  return written.join("\n");
}

/** Describes the call that failed. */
export interface CallDetails {
  /** The endpoint as the specification writes it, for example `POST /orders`. */
  readonly endpoint: string;
  /** The name of the call in events, log lines and traces. */
  readonly callId: string;
  /** What happened, in order: queueing, attempts, waits, look-ups. */
  readonly timeline: readonly TimelineEntry[];
  /** Identifies what the call may have created although it failed. */
  readonly identifiers?: Readonly<Record<string, unknown>> | undefined;
}

/** Maximum characters of a message: it may quote a response or a caller's value. */
const maxMessageLength = 3_500;

/** Fields of an error for a log. Control characters and direction marks in foreign texts become visible. */
export const forLog = <Fields extends object>(fields: Fields): Fields => mapTexts(fields, visible) as Fields;

const marker = (name: string) => Symbol.for(`pod-partner.error.${name}`);

/**
 * The base class of all errors that the SDK throws. Only an abort rejects with another value: the reason of your signal.
 *
 * Use {@link PodPartnerError.isInstance} instead of `instanceof` if two copies of the package may be installed.
 */
export abstract class PodPartnerError extends Error {
  /** The endpoint of the call, for example `POST /orders`; undefined if the error does not belong to a call. */
  declare endpoint: string | undefined;
  /** The name of the call in events, log lines and traces; undefined if the error does not belong to a call. */
  declare callId: string | undefined;
  /** The HTTP status of the response; undefined without a response. */
  declare readonly status: number | undefined;
  /** The service's error code (specification 7), or that of the file system in a `FileError`; undefined without one. */
  declare readonly code: string | undefined;
  /** The `message` of the service's error object, unchanged; undefined without one. The error's own `message` adds the endpoint and the hint. */
  declare readonly serviceMessage: string | undefined;
  /** The steps of the call before the error, in order, with the duration of each. */
  declare timeline: readonly TimelineEntry[];
  /**
   * Identifies what the call may have created although it failed; otherwise undefined. For an order it holds the `customIdentifier`,
   * which `orders.ensure` uses to find the order.
   */
  declare identifiers: Readonly<Record<string, unknown>> | undefined;
  /** What to do next; undefined if the SDK does not know. */
  declare readonly hint: string | undefined;
  /** Where the documentation explains this error: a page and a heading in the installed package. */
  declare readonly docs: string;

  constructor(message: string, options?: { readonly cause?: unknown }) {
    const text = shorten(visible(shorten(message, maxMessageLength)), maxMessageLength);
    // A quoted sentence may already end in a full stop.
    super(text.replace(/(?<!\.)\.\.(?=\s|$)/g, "."), options);
    const { kind } = new.target;
    // If `Error.prototype` is frozen, an assignment throws.
    Object.defineProperty(this, "name", { value: kind, writable: true, enumerable: true, configurable: true });
    Object.defineProperty(this, "docs", {
      value: `node_modules/pod-partner/docs/errors.md#${kind.toLowerCase()}`,
      enumerable: true,
    });
    for (let type = new.target; type !== Object.getPrototypeOf(Error); type = Object.getPrototypeOf(type)) {
      if (Object.hasOwn(type, "kind")) Object.defineProperty(this, marker(type.kind), { value: true });
      if (type === PodPartnerError) break;
    }
  }

  /** Whether a time limit ended the call: the option `timeout` or `deadline`. */
  declare readonly isTimeout: boolean;
  /** Whether the same call may succeed later and can be repeated without harm. */
  abstract readonly isRetryable: boolean;

  /** The name of the class, by which other copies of the package recognise it. */
  static readonly kind: string = "PodPartnerError";

  /**
   * Checks the class of an error, like `instanceof`. It also recognises errors of another installed copy of the package.
   *
   * @example
   * if (NotFoundError.isInstance(error)) console.log(error.endpoint);
   */
  static isInstance<Type extends PodPartnerError>(
    this: (abstract new (...arguments_: never[]) => Type) & { readonly kind: string },
    error: unknown,
  ): error is Type {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class it is called on, not the one it is written in.
    const { kind } = this;
    return isObject(error) && attempt(() => marker(kind) in error) === true;
  }

  /** Works like the plain `instanceof` but never throws. For a revoked proxy, plain `instanceof` throws. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class it is called on, not the one it is written in.
    return attempt(() => Function.prototype[Symbol.hasInstance].call(this, error)) === true;
  }

  /**
   * Returns the fields for a log. The secret key is never among them. Invisible characters of foreign texts are escapes, such as `\u202E`. Of
   * a body above 4,000 characters it has the beginning.
   */
  toJSON(): Record<string, unknown> {
    const { name, message, endpoint, callId, status, code, serviceMessage, hint, docs } = this;
    const { isRetryable, timeline, identifiers } = this;
    const words = { name, message, endpoint, callId, status, code, serviceMessage, hint, docs, isRetryable, timeline };
    // The identifiers stay exact, because a program uses them for a look-up.
    return { ...forLog(words), identifiers };
  }
}

// An uncaught error is printed with all of its own fields, so fields without information are only on the prototype.
const defaults: Partial<Record<keyof PodPartnerError, unknown>> = { timeline: [], isTimeout: false };
const fields = ["endpoint", "callId", "status", "code", "serviceMessage", "timeline", "identifiers", "hint"] as const;
for (const field of [...fields, "isTimeout"] as const) {
  Object.defineProperty(PodPartnerError.prototype, field, {
    value: defaults[field],
    writable: true,
    configurable: true,
  });
}

/** What Node and Bun print: the stack, which includes the message and the issues, and the remaining fields. Most messages end with the hint. */
function printed(
  this: PodPartnerError,
  _depth: number,
  options: object,
  inspect: (value: unknown, options: object) => string,
): string {
  const inStack = ["name", "message", "serviceMessage", "endpoint", "timeline", "issues"];
  if (this.message.includes(String(this.hint))) inStack.push("hint");
  const all = Object.entries({ ...this.toJSON(), cause: this.cause });
  const fields = all.filter(([name, value]) => value !== undefined && !inStack.includes(name));
  return `${this.stack} ${inspect(Object.fromEntries(fields), options)}`;
}
Object.defineProperty(PodPartnerError.prototype, Symbol.for("nodejs.util.inspect.custom"), { value: printed });

/** Adds the endpoint and the timeline of the call to an error, and makes a stack of its message and the timeline. Frames are added later. */
export function attachCall(error: PodPartnerError, call: CallDetails): void {
  // An observer may have frozen the error.
  if (!Object.isExtensible(error)) return;
  // The error of an inner request, such as a look-up, lacks only the identifiers of what the outer call may have created.
  if (call.identifiers !== undefined) error.identifiers ??= call.identifiers;
  if (error.endpoint !== undefined) return;
  error.endpoint = call.endpoint;
  error.callId = call.callId;
  error.timeline = call.timeline;
  const lines = [`${error.name}: ${error.message}`, timelineTable(call.timeline)];
  error.stack = lines.filter((line) => line !== "").join("\n");
}

/** Redacts an error whose message has the key: a caller can put it where it does not belong, such as a path or the name of a field. */
export function redactError(error: PodPartnerError, redact: (text: string) => string): void {
  if (redact(error.message) === error.message || !Object.isExtensible(error)) return;
  for (const name of Object.getOwnPropertyNames(error)) {
    // The cause is redacted where it is made.
    if (name !== "cause") Reflect.set(error, name, mapTexts(Reflect.get(error, name), redact));
  }
}

/**
 * Something threw an unexpected error: your code, such as a polyfilled signal or a getter of an option, or the SDK itself. `cause` has its
 * message and stack. If the service may have carried out a creation, `identifiers` identify it.
 */
export class UnexpectedError extends PodPartnerError {
  static override readonly kind: string = "UnexpectedError";
  readonly isRetryable = false;
  override readonly hint =
    "Read the stack of `cause`: its first line shows the code that threw. Report the error if that line is in pod-partner.";

  constructor({ reason, cause }: { reason: string; cause: unknown }) {
    super(`The call failed for an unexpected reason: ${reason}`, { cause });
  }
}
