import type { Redact } from "../../http/redact.ts";
import type { Fault } from "../faults/fault.ts";
import type { LoggedRequest, RecordedMessage, RequestOutcome } from "./logged-request.ts";
import { BodyRecorder } from "./recorded-body.ts";
import { redactHeaders } from "./redact-keys.ts";
import { summaryOf } from "./summary.ts";

type Tokens = LoggedRequest["tokens"];

/** What is known when a request arrives. */
export interface Arrival {
  readonly request: Request;
  /** Relative to the base URL. */
  readonly path: string;
  readonly time: number;
  /** Milliseconds by the clock of the connection. */
  readonly start: number;
  readonly call: string | undefined;
  readonly fault: Fault["fault"] | undefined;
  readonly tokens: () => Tokens;
  readonly redact: Redact;
}

/** The bytes that an entry uses besides its texts, roughly. */
const overhead = 1000;

/** A request or a response before it is shown. It keeps the texts as they are, because redacting takes time and few entries are read. */
class Message {
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
export class Recording implements LoggedRequest {
  readonly method: string;
  readonly path: string;
  status: number | undefined;
  readonly #id: number;
  readonly #arrival: Pick<Arrival, "time" | "start" | "call" | "fault" | "redact">;
  readonly #url: string;
  readonly #request: Message;
  #response: Message | undefined;
  /** Released at the end: it refers to the request. */
  #readTokens: (() => Tokens) | undefined;
  #tokens: Tokens;
  #duration: number | undefined;
  #outcome: RequestOutcome = "open";
  #weight = 0;

  constructor(id: number, { request, path, tokens, ...arrival }: Arrival) {
    this.method = request.method;
    this.path = arrival.redact(path);
    this.status = undefined;
    this.#id = id;
    this.#arrival = arrival;
    this.#readTokens = tokens;
    this.#url = request.url;
    this.#request = new Message(request.headers);
  }

  /** Starts the recording of the response, and returns the recorder of its body. */
  respond(response: Response): BodyRecorder {
    this.#response = new Message(response.headers);
    this.status = response.status;
    return this.#response.body;
  }

  /** Ends the request at a time by the clock of the connection. */
  end(outcome: RequestOutcome, time: number): void {
    this.#outcome = outcome;
    // To the microsecond: the rest is noise of floating point.
    this.#duration = Math.round((time - this.#arrival.start) * 1000) / 1000;
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
  get tokens(): Tokens {
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
    const { request, response } = this;
    return { ...summaryOf(this), request: json(request), response: response === undefined ? null : json(response) };
  }
}
