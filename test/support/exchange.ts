import { type PodPartner, ResponseValidationError } from "pod-partner";
import { expect, it } from "vitest";
import { secretKey, useService } from "./partner.ts";
import type { Recorded, StubResponse } from "./stub-service.ts";

type Call = (partner: PodPartner) => PromiseLike<unknown>;
type Path = readonly (string | number)[];

/** The rejection of a promise. Throws if the promise resolves. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) expect.fail(`resolved, with ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}

/** The expected request: a line such as `GET /orders`, below the base URL, and the body if there is one. */
export interface Sent {
  readonly line: string;
  /** The JSON body, compared deeply. */
  readonly json?: unknown;
  /** The raw body of an upload. */
  readonly bytes?: Uint8Array;
}

export function expectSent(request: Recorded | undefined, { line, json, bytes }: Sent): void {
  if (request === undefined) expect.fail(`nothing was sent; expected ${line}`);
  const [method, path] = line.split(" ");
  expect(`${request.method} ${request.path}`).toBe(`${method} /v2${path}`);
  expect(request.headers["x-service-secret-key"]).toBe(secretKey);
  if (json !== undefined) {
    expect(request.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(request.body.toString("utf8"))).toStrictEqual(json);
  } else if (bytes !== undefined) {
    expect(request.headers["content-type"]).toBe("application/octet-stream");
    expect(request.body.equals(bytes)).toBe(true);
  } else {
    expect(request.body.byteLength).toBe(0);
    expect(request.headers).not.toHaveProperty("content-type");
  }
}

/** Removes a field instead of changing it. */
export const missing = Symbol("missing");

/** A deep copy of `value` with another value at `path`. */
function altered(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  if (!(key in copy)) expect.fail(`the hand-written response has no ${String(key)}`);
  if (rest.length === 0 && replacement === missing) delete copy[key];
  else copy[key] = altered(copy[key], rest, replacement);
  return copy;
}

/** A resource or a list is alone in the field with its name; `nextCursor` belongs to the iteration. */
const unwrapped = (wire: unknown, [field = ""]: Path): unknown => Reflect.get(Object(wire), field);

const shown = (value: unknown) => (value === missing ? "missing" : JSON.stringify(value));

export interface ResponseCases {
  readonly call: Call;
  /** A complete response, written by hand from the specification. */
  readonly wire: unknown;
  /** Changes that break the specification: each must be a fault at exactly that path. */
  readonly refuses?: readonly (readonly [Path, unknown])[];
  /** Changes that the specification allows: each must be accepted, and returned unchanged. */
  readonly accepts?: readonly (readonly [Path, unknown])[];
}

/** The tools of a resource's tests, on one stub. */
export function useExchange() {
  // Each fault is an error; which faults are essential is in test/schemas/response-faults.test.ts.
  const context = useService({ responses: "throw" });

  /** Makes the call, compares its one request with `sent`, and returns the result. */
  async function exchange(call: Call, sent: Sent, response: StubResponse): Promise<unknown> {
    context.service.respond(response);
    const result = await call(context.partner);
    expect(context.service.requests).toHaveLength(1);
    expectSent(context.service.requests[0], sent);
    return result;
  }

  /** Registers a test for each response that must be refused or accepted. */
  function checksResponses(name: string, { call, wire, refuses = [], accepts = [] }: ResponseCases): void {
    const title = ([path, value]: readonly [Path, unknown]) => `${path.join(".")}: ${shown(value)}`;
    for (const row of refuses) {
      it(`${name} refuses a response with ${title(row)}`, async () => {
        context.service.respond({ body: altered(wire, ...row) });
        const error = await rejection(call(context.partner));
        if (!ResponseValidationError.isInstance(error)) throw error;
        expect(error.issues.map(({ path }) => path)).toContainEqual(row[0]);
        expect(error.status).toBe(200);
        expect(context.service.requests).toHaveLength(1);
      });
    }
    for (const row of accepts) {
      it(`${name} accepts a response with ${title(row)}`, async () => {
        context.service.respond({ body: altered(wire, ...row) });
        expect(await call(context.partner)).toStrictEqual(unwrapped(altered(wire, ...row), row[0]));
      });
    }
  }

  return { context, exchange, checksResponses };
}
