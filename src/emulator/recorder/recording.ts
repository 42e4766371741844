import { createHash } from "node:crypto";
import { createRedact, type Redact } from "../../http/redact.ts";
import { attempt, propertyOf, textOf } from "../../util/foreign.ts";
import type { Fault } from "../faults/fault.ts";
import type { LoggedRequest, RecordedBody, RecordedMessage, RequestOutcome, ServiceTime } from "./logged-request.ts";
import type { RequestSummary } from "./request-json.ts";

const keyHeader = "x-service-secret-key";
/** Headers whose whole value is secret: another key can be in them. */
const secretHeaders: ReadonlySet<string> = new Set([keyHeader, "authorization", "proxy-authorization", "cookie"]);

/** A shorter text is not redacted outside its header: it occurs in ordinary words. */
const shortest = 4;
/** A longer text is searched as it is: the pattern for all its escaped forms would be too large. */
const longest = 256;

function redactOne(key: string): Redact {
  if (key.length < shortest) return (text) => text;
  return key.length > longest ? (text) => text.replaceAll(key, "[redacted]") : createRedact(key);
}

/** Makes the function that removes all keys of a set that can grow. A key that contains another one is removed first. */
function redactAll(keys: ReadonlySet<string>): Redact {
  let made: readonly Redact[] = [];
  return (text) => {
    if (made.length < keys.size) made = [...keys].sort((one, other) => other.length - one.length).map(redactOne);
    return made.reduce((redacted, redact) => redact(redacted), text);
  };
}

/** Makes the function that returns how to redact the texts of a request: its own key, and every key that the emulator has or had. */
export function createRedactKeys(keys: ReadonlySet<string>): (headers: Headers) => Redact {
  const known = redactAll(keys);
  return (headers) => {
    const given = headers.get(keyHeader);
    if (given === null || keys.has(given)) return known;
    const other = redactOne(given);
    return (text) => known(other(text));
  };
}

/** Headers by name, as they may be shown. `headers` has names and values by turns. */
function redactHeaders(headers: readonly string[], redact: Redact): Readonly<Record<string, string>> {
  const shown: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    shown.push([redact(name), secretHeaders.has(name) ? "[redacted]" : redact(headers[index + 1] ?? "")]);
  }
  return Object.fromEntries(shown);
}

/** The bytes of a text that are kept. */
const kept = 65_536 + 4096;
/** The characters that are cut off from an incomplete text: a part of a key at its end would not be found and redacted. */
const margin = 4096;

const textual = /^(text\/|application\/([\w.+-]+\+)?(json|xml)\b|application\/x-www-form-urlencoded)/i;

/** A copy: a slice of a string or of a network buffer would keep the whole of it in memory. */
const startOf = (text: string): string => Buffer.from(text.slice(0, kept)).toString();

/** Records a body, of which it keeps a bounded part. */
class BodyRecorder {
  readonly #type: string;
  readonly #isText: boolean;
  #size = 0;
  #text = "";
  #bytes = Buffer.alloc(0);
  #used = 0;
  #isCut = false;

  constructor(type: string | null) {
    this.#type = type ?? "";
    this.#isText = textual.test(this.#type);
  }

  /** The memory that it uses, in bytes. A character counts as 2. */
  get weight(): number {
    return this.#bytes.length + 2 * this.#text.length;
  }

  /** Records the whole body, if it is a text. It keeps the string itself, which costs no time. */
  setText(whole: string): void {
    this.#size = Buffer.byteLength(whole);
    if (!this.#isText) return;
    this.#isCut = whole.length > kept;
    this.#text = this.#isCut ? startOf(whole) : whole;
  }

  /** Records the next piece of the body. */
  add(piece: Uint8Array): void {
    this.#size += piece.byteLength;
    if (!this.#isText || this.#isCut) return;
    const part = piece.subarray(0, kept - this.#used);
    this.#isCut = part.length < piece.length;
    const needed = this.#used + part.length;
    if (needed > this.#bytes.length) {
      // Doubled, so that many small pieces are not copied again and again. The first piece is often the only one.
      const larger = Buffer.alloc(this.#used === 0 ? needed : Math.min(kept, Math.max(needed, 2 * this.#used)));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#used);
    this.#used = needed;
  }

  /** The body as it may be shown. Undefined without a byte. */
  show(redact: Redact): RecordedBody | undefined {
    if (this.#size === 0) return undefined;
    const raw = this.#text === "" ? this.#bytes.toString("utf8", 0, this.#used) : this.#text;
    const redacted = redact(raw);
    const text = this.#isCut ? redacted.slice(0, -margin) : redacted;
    return {
      type: redact(this.#type),
      size: this.#size,
      text: this.#isText ? text : undefined,
      truncated: this.#isCut,
      json: () => JSON.parse(text),
    };
  }
}

/** The largest response that is read for its code, in bytes. */
const largest = 4096;

/** The code of the error object in the response (specification 2.2); null without an error object. */
function codeOf({ status = 0, response }: Pick<LoggedRequest, "status" | "response">): string | null {
  const body = response?.body;
  if (status < 400 || body === undefined || body.size > largest) return null;
  return (
    textOf(
      attempt(() => body.json()),
      "code",
    ) ?? null
  );
}

/** What shows which requests belong together: the identifier of an order in its creation and its look-up, or the content of another body. */
function subjectOf({ call, path, request }: LoggedRequest): string | null {
  if (call === "orders.lookup") return new URL(path, "http://emulator").searchParams.get("customIdentifier");
  const { body } = request;
  if (body?.text === undefined) return null;
  const order =
    call === "orders.create"
      ? propertyOf(
          attempt(() => body.json()),
          "order",
        )
      : undefined;
  return textOf(order, "customIdentifier") ?? createHash("sha1").update(body.text).digest("base64url").slice(0, 8);
}

/** The fields of a request that a list shows, as JSON: without headers and bodies. A missing value is null. */
export function summaryOf(entry: LoggedRequest): RequestSummary {
  const { id, time, start, method, path, outcome } = entry;
  const { call = null, status = null, duration = null, tokens = null, fault = null } = entry;
  const code = codeOf(entry);
  const subject = subjectOf(entry);
  return { id, time, start, call, method, path, status, duration, tokens, fault, code, subject, outcome };
}

type BucketLevels = LoggedRequest["tokens"];

/** What is known when a request arrives. */
interface RequestArrival {
  readonly request: Request;
  /** Relative to the base URL. */
  readonly path: string;
  readonly time: number;
  /** Milliseconds by the clock of the connection. */
  readonly start: number;
  readonly call: string | undefined;
  readonly fault: Fault["fault"] | undefined;
  readonly tokens: () => BucketLevels;
  readonly redact: Redact;
}

/** The bytes that an entry uses besides its texts, roughly. */
const overhead = 1000;

/** A request or a response before it is shown. It keeps the texts as they are, because redacting takes time and few entries are read. */
class RecordingMessage {
  /** Names and values by turns: a `Headers` object uses more memory. */
  readonly #headers: readonly string[];
  readonly #headersWeight: number;
  readonly body: BodyRecorder;

  constructor(headers: Headers) {
    this.#headers = [...headers].flat();
    this.#headersWeight = this.#headers.reduce((sum, text) => sum + 2 * text.length, 0);
    this.body = new BodyRecorder(headers.get("Content-Type"));
  }

  /** The memory that it uses, in bytes. A character counts as 2. */
  get weight(): number {
    return this.body.weight + this.#headersWeight;
  }

  show(redact: Redact): RecordedMessage {
    return { headers: redactHeaders(this.#headers, redact), body: this.body.show(redact) };
  }
}

/** An entry of the log, which the recorder completes while the request runs. */
export class RecordedRequest implements LoggedRequest {
  readonly method: string;
  readonly path: string;
  status: number | undefined;
  readonly #id: number;
  readonly #arrival: Pick<RequestArrival, "time" | "start" | "call" | "fault" | "redact">;
  readonly #url: string;
  readonly #request: RecordingMessage;
  #response: RecordingMessage | undefined;
  /** Released at the end: it refers to the request. */
  #readTokens: (() => BucketLevels) | undefined;
  #tokens: BucketLevels;
  #duration: number | undefined;
  #service: ServiceTime | undefined;
  #responded: number | undefined;
  #outcome: RequestOutcome = "open";
  #weight = 0;

  constructor(id: number, { request, path, tokens, ...arrival }: RequestArrival) {
    this.method = request.method;
    this.path = arrival.redact(path);
    this.status = undefined;
    this.#id = id;
    this.#arrival = arrival;
    this.#readTokens = tokens;
    this.#url = request.url;
    this.#request = new RecordingMessage(request.headers);
  }

  /** Milliseconds since the request arrived, at a time by the clock of the connection. To the microsecond: the rest is noise of floating point. */
  since(time: number): number {
    return Math.round((time - this.#arrival.start) * 1000) / 1000;
  }

  /** Records that the service itself has responded, even if the client is gone. */
  served(began: number, ended: number, status: number): void {
    this.#service = { began: this.since(began), ended: this.since(ended), status };
  }

  /** Starts the recording of the response, and returns the recorder of its body. */
  respond(response: Response, time: number): BodyRecorder {
    this.#responded = this.since(time);
    this.#response = new RecordingMessage(response.headers);
    this.status = response.status;
    return this.#response.body;
  }

  /** Ends the request at a time by the clock of the connection. */
  end(outcome: RequestOutcome, time: number): void {
    this.#outcome = outcome;
    this.#duration = this.since(time);
    this.#tokens = this.#readTokens?.();
    this.#readTokens = undefined;
  }

  get requestBody(): BodyRecorder {
    return this.#request.body;
  }
  /** The memory that the entry uses, in bytes, when it was last weighed. */
  get weight(): number {
    return this.#weight;
  }
  /** Weighs the entry again, and returns by how many bytes it has grown. */
  weigh(): number {
    const texts = 2 * (this.path.length + this.#url.length);
    const weight = overhead + texts + this.#request.weight + (this.#response?.weight ?? 0);
    const growth = weight - this.#weight;
    this.#weight = weight;
    return growth;
  }
  /** The whole URL. */
  get url(): string {
    return this.#arrival.redact(this.#url);
  }
  get id(): number {
    return this.#id;
  }
  get time(): number {
    return Math.round(this.#arrival.time);
  }
  get start(): number {
    return Math.round(this.#arrival.start);
  }
  get call(): string | undefined {
    return this.#arrival.call;
  }
  get fault(): Fault["fault"] | undefined {
    return this.#arrival.fault;
  }
  get request(): RecordedMessage {
    return this.#request.show(this.#arrival.redact);
  }
  get response(): RecordedMessage | undefined {
    return this.#response?.show(this.#arrival.redact);
  }
  get duration(): number | undefined {
    return this.#duration;
  }
  get service(): ServiceTime | undefined {
    return this.#service;
  }
  get tokens(): BucketLevels {
    return this.#tokens;
  }
  get outcome(): RequestOutcome {
    return this.#outcome;
  }

  toJSON(): Readonly<Record<string, unknown>> {
    const json = ({ headers, body }: RecordedMessage) => {
      const { type, size, text = null, truncated } = body ?? {};
      return { headers, body: body === undefined ? null : { type, size, text, truncated } };
    };
    const { request, response, service = null } = this;
    const times = { service, responded: this.#responded ?? null };
    return {
      ...summaryOf(this),
      ...times,
      request: json(request),
      response: response === undefined ? null : json(response),
    };
  }
}
