import type { IncomingMessage } from "node:http";
import type { HeaderFields, ResponseHead } from "../util/response-head.ts";

/** The headers of a response. Repeated headers are one value with commas, as in the platform's `Headers`. */
class NodeHeaders implements HeaderFields {
  readonly #fields = new Map<string, string>();

  constructor(raw: readonly string[]) {
    for (let index = 0; index + 1 < raw.length; index += 2) {
      const name = String(raw[index]).toLowerCase();
      const value = String(raw[index + 1]);
      const before = this.#fields.get(name);
      this.#fields.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }

  get(name: string): string | null {
    return this.#fields.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  [Symbol.iterator]() {
    return this.#fields.entries() as ReturnType<HeaderFields[typeof Symbol.iterator]>;
  }
}

/** Statuses whose responses have no body. */
const bodiless = new Set([204, 205, 304]);

/** The head of a response of `node:http`. */
export class NodeHead implements ResponseHead {
  readonly status: number;
  readonly ok: boolean;
  readonly url: string;
  readonly headers: HeaderFields;
  readonly #incoming: Pick<IncomingMessage, "rawHeaders" | "statusMessage">;

  constructor({ statusCode = 0, statusMessage, rawHeaders }: IncomingMessage, url: string) {
    this.status = statusCode;
    this.ok = statusCode >= 200 && statusCode <= 299;
    this.url = url;
    this.headers = new NodeHeaders(rawHeaders);
    this.#incoming = { rawHeaders, statusMessage };
  }

  toResponse(): Response {
    const { status, url } = this;
    const { rawHeaders, statusMessage: statusText = "" } = this.#incoming;
    const headers = new Headers();
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      headers.append(String(rawHeaders[index]), String(rawHeaders[index + 1]));
    }
    const response = new Response(bodiless.has(status) ? null : "", { status, statusText, headers });
    // The body was read, as that of every response that the SDK returns.
    response.body?.cancel().catch(() => undefined);
    return Object.defineProperty(response, "url", { value: url });
  }
}
