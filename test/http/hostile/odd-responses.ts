import { secretKey } from "./secret.ts";
import { noResponses } from "./thrown.ts";

/** Makes the plain response that `fetch` would give, with another body if one is given. */
export type MakeResponse = (body?: ReadableStream | null) => Response;

const failing = (what: string) => () => {
  throw new Error(`${what} cannot be read ${secretKey}`);
};

const withGetter = (make: MakeResponse, name: keyof Response): Response =>
  Object.defineProperty(make(), name, { get: failing(name) });

const withValue = (make: MakeResponse, name: keyof Response, value: unknown): Response =>
  Object.defineProperty(make(), name, { value });

/** A response whose body consists of one chunk of any type. */
const chunkOf = (make: MakeResponse, chunk: unknown): Response => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(chunk);
      controller.close();
    },
  });
  return make(body);
};

const used = (make: MakeResponse): Response => {
  const response = make();
  void response.text().catch(() => undefined);
  return response;
};

const locked = (make: MakeResponse): Response => {
  const response = make();
  response.body?.getReader();
  return response;
};

/** An object whose tag is that of a `Response`, and that has these fields alone. */
const lookalike = (fields: object): unknown => ({ ...fields, [Symbol.toStringTag]: "Response" });

/** What `fetch` can give instead of a plain `Response`, by name. `make` makes a plain one. */
const responses: Readonly<Record<string, (make: MakeResponse) => unknown>> = {
  ...noResponses,
  "text with the key": () => `<html>${secretKey}</html>`,
  "used body": used,
  "locked body": locked,
  "text chunk": (make) => chunkOf(make, `{"key":"${secretKey}"}`),
  "number chunk": (make) => chunkOf(make, 7),
  "null chunk": (make) => chunkOf(make, null),
  "empty chunk": (make) => chunkOf(make, new Uint8Array()),
  "array buffer chunk": (make) => chunkOf(make, new ArrayBuffer(8)),
  "status throws": (make) => withGetter(make, "status"),
  "headers throw": (make) => withGetter(make, "headers"),
  "body throws": (make) => withGetter(make, "body"),
  "ok throws": (make) => withGetter(make, "ok"),
  "ok no boolean": (make) => withValue(make, "ok", "yes"),
  "status text": (make) => withValue(make, "status", "200"),
  "status NaN": (make) => withValue(make, "status", Number.NaN),
  "headers null": (make) => withValue(make, "headers", null),
  "headers object": (make) => withValue(make, "headers", { "content-type": secretKey }),
  "body text": (make) => withValue(make, "body", "text"),
  "text throws": (make) => withGetter(make, "text"),
  "url throws": (make) => withGetter(make, "url"),
  "lookalike without headers": () => lookalike({ status: 200, ok: true, body: null }),
  "lookalike that rejects": () =>
    lookalike({ status: 200, ok: true, headers: new Headers(), body: {}, text: () => Promise.reject(secretKey) }),
  "thenable twice": (make) => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable of the caller's own is what this tests.
    then: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => {
      resolve(make());
      reject(new Error("too late"));
      resolve(make(null));
    },
  }),
  "thenable that throws after": (make) => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable of the caller's own is what this tests.
    then: (resolve: (value: unknown) => void) => {
      resolve(make());
      throw new Error(secretKey);
    },
  }),
};

export const oddNames: readonly string[] = Object.keys(responses);

export function oddResponse(name: string, make: MakeResponse): unknown {
  const odd = responses[name];
  if (odd === undefined) throw new Error(`No odd response has the name ${name}`);
  return odd(make);
}

/** The client cannot cancel the body of these. */
export const unreachable: ReadonlySet<string | undefined> = new Set([
  "used body",
  "locked body",
  "body throws",
  "body text",
]);
