import { type PartnerClock, PodPartner, PodPartnerError, type PodPartnerOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StandardSchema } from "../../src/resources/request-any.ts";
import { noResponses, thrownValues } from "../http/hostile/thrown.ts";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { settle } from "../support/settle.ts";

const things = Object.entries(thrownValues);
const baseUrl = "https://partner.example/v2";
const clock = createManualClock();
const connect = (options: PodPartnerOptions) =>
  new PodPartner({ baseUrl, secretKey, clock, retry: { retries: 1 }, ...options });
const valid = async () => Response.json({ message: "valid" });

const nothing = () => undefined;

/** A function that throws the value of a row of the table. */
const throwing = (make: () => unknown) => (): never => {
  throw make();
};

let unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", onUnhandled);
});
afterEach(async () => {
  await new Promise(setImmediate);
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
  expect(clock.pending).toBe(0);
});

/** The typed error that a call ends with. */
async function typed(call: PromiseLike<unknown>): Promise<PodPartnerError> {
  const error = await rejection(settle(clock, call));
  if (!PodPartnerError.isInstance(error)) expect.fail("the call did not end with an error of the SDK");
  expect(error.stack).toBeTypeOf("string");
  expect(JSON.stringify(error)).not.toContain(secretKey);
  return error;
}

describe("a call ends with an error of the SDK, whatever fetch throws", () => {
  it.each(things)("synchronously: %s", async (_, make) => {
    const error = await typed(connect({ fetch: throwing(make) as never }).orders.get(ref("Order")));
    expect(error).toMatchObject({ name: "ConnectionError", sent: true, endpoint: "GET /orders/{orderReference}" });
    expect(error.cause).toBeInstanceOf(Error);
  });

  it.each(things)("as a rejection, for a creation: %s", async (_, make) => {
    const fetch = async () => Promise.reject(make());
    const error = await typed(connect({ fetch }).orders.create(combinedOrder));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", identifiers: { customIdentifier: expect.any(String) } });
  });

  it.each(things)("while the body is read: %s", async (_, make) => {
    const fetch = async () => new Response(new ReadableStream({ pull: () => Promise.reject(make()) }));
    expect(await typed(connect({ fetch }).orders.get(ref("Order")))).toMatchObject({ name: "ConnectionError" });
  });

  it.each(things)("while a download's body is read: %s", async (_, make) => {
    const body = () => new ReadableStream({ pull: () => Promise.reject(make()) });
    const fetch = async () => new Response(body(), { headers: { "content-type": "image/png" } });
    const download = await settle(clock, connect({ fetch }).renders.media(ref("Render")));
    expect(await typed(download.bytes())).toMatchObject({ name: "ConnectionError" });
  });

  it.each(things)("after an abort, which keeps the caller's own reason: %s", async (_, make) => {
    const controller = new AbortController();
    const partner = connect({ fetch: () => new Promise<never>(() => undefined) });
    const outcomes = [
      partner.orders.get(ref("Order"), { signal: controller.signal }),
      partner.orders.create(combinedOrder, { signal: controller.signal }),
      partner.orders.list({ signal: controller.signal }).toArray(),
    ].map((call) => call.then(nothing, (error: unknown) => [error]));
    await clock.advance(0);
    controller.abort(make());
    for (const outcome of await Promise.all(outcomes)) {
      expect(Object.is(outcome?.[0], controller.signal.reason)).toBe(true);
    }
  });
});

describe("a call ends with an error of the SDK, whatever fetch returns", () => {
  it.each(Object.entries(noResponses))("for a read: %s", async (_, make) => {
    const error = await typed(connect({ fetch: async () => make() as Response }).orders.get(ref("Order")));
    expect(error).toMatchObject({ name: "ConnectionError", sent: true });
  });

  it.each(Object.entries(noResponses))("for a download: %s", async (_, make) => {
    const fetch = async () => make() as Response;
    const call = connect({ fetch })
      .renders.media(ref("Render"))
      .then((download) => download.bytes());
    await typed(call);
  });

  it.each(Object.entries(noResponses))("for a creation, as a lost response: %s", async (_, make) => {
    const sent: string[] = [];
    const fetch = async (request: Request) => {
      sent.push(request.method);
      if (request.method === "GET") return Response.json({ code: "not_found", message: "None." }, { status: 404 });
      return make() as Response;
    };
    const error = await typed(connect({ fetch }).orders.create(combinedOrder));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", identifiers: { customIdentifier: expect.any(String) } });
    // The order is looked up before the retry.
    expect(sent.slice(0, 2)).toEqual(["POST", "GET"]);
  });

  it("recovers an order whose response is `Response.error()`", async () => {
    const fetch = async (request: Request) =>
      request.method === "GET" ? Response.json({ orderReference: ref("Order") }) : Response.error();
    const order = await settle(clock, connect({ fetch }).orders.create(combinedOrder));
    expect(order).toMatchObject({ reference: ref("Order"), recovered: true });
  });
});

describe("the SDK handles what the partner's code throws", () => {
  it.each(things)("in a hook or a logger, and the call continues: %s", async (_, make) => {
    const raise = throwing(make);
    const reject = () => Promise.reject(make());
    for (const broken of [raise, reject]) {
      const hooks = { onRequest: broken, onResponse: broken };
      const logger = { debug: broken, error: broken };
      for (const options of [
        { hooks, logger },
        { hooks, logger: { error: () => undefined } },
      ]) {
        expect(await settle(clock, connect({ fetch: valid, ...options }).auth.validate())).toHaveProperty("message");
      }
    }
  });

  it.each(things)("in the source of an upload: %s", async (_, make) => {
    const raise = throwing(make);
    const bomb = { get: raise };
    const sources = [
      make(),
      Object.defineProperty({}, "getReader", bomb),
      Object.defineProperty({}, Symbol.asyncIterator, bomb),
      { [Symbol.asyncIterator]: raise },
      { [Symbol.asyncIterator]: () => ({ next: raise }) },
      { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) },
      { [Symbol.asyncIterator]: () => ({ next: async () => make() }) },
      new ReadableStream({ pull: () => Promise.reject(make()) }),
    ];
    for (const source of sources) {
      // The real clock: a fast one could reach the timeout before the file system responds.
      const error = await typed(connect({ fetch: valid, clock: undefined }).images.upload(source as never));
      expect(error.name).toBe("RequestValidationError");
    }
  });

  it.each(things)("in a schema: %s", async (_, make) => {
    const call = (validate: StandardSchema["~standard"]["validate"]) => {
      const schema: StandardSchema = { "~standard": { version: 1, vendor: "test", validate } };
      return connect({ fetch: valid }).request("GET", "/things", { schema });
    };
    const failing = [throwing(make), () => Promise.reject(make()), () => ({ issues: [make() as never] })];
    for (const validate of failing)
      expect(await typed(call(validate))).toHaveProperty("name", "ResponseValidationError");
    const odd = call(() => make() as never).then(
      () => "resolved",
      (error: Error) => error.name,
    );
    expect(await settle(clock, odd)).toMatch(/^(resolved|ResponseValidationError)$/);
  });

  it.each(things)("in an iterable of inputs: %s", async (_, make) => {
    const partner = connect({ fetch: valid });
    const trapped = (name: string) => Object.defineProperty({}, name, { get: throwing(make) });
    const inputs = [
      make(),
      { [Symbol.asyncIterator]: () => ({ next: throwing(make) }) },
      { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(make()) }) },
      { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) },
      { [Symbol.asyncIterator]: () => ({ next: () => trapped("then") }) },
      { [Symbol.iterator]: () => ({ next: () => trapped("done") }) },
    ];
    for (const given of inputs) {
      const outcomes = partner.orders.ensureMany(given as never)[Symbol.asyncIterator]();
      const first = await outcomes.next().then(
        ({ done }) => (done ? "ended" : "an outcome"),
        () => "failed",
      );
      expect(first).not.toBe("an outcome");
    }
  });

  it.each(things)("in a clock, which the machine's own then replaces: %s", async (_, make) => {
    const fails = throwing(make);
    const broken: PartnerClock[] = [
      { now: fails, after: fails },
      { now: () => make() as number, after: () => 5 as never },
      { now: () => Number.NaN, after: (ms, callback) => setTimeout(callback, ms) as never },
      {
        now: () => 0,
        after: (ms, callback) => {
          setTimeout(callback, ms).unref();
          return fails;
        },
      },
    ];
    for (const clock of broken) {
      const partner = connect({ fetch: valid, clock });
      expect(await partner.auth.validate({ deadline: 5_000 })).toHaveProperty("message");
      const hanging = connect({ fetch: () => new Promise<never>(() => undefined), clock, retry: { retries: 0 } });
      expect(await rejection(hanging.auth.validate({ timeout: 5 }))).toHaveProperty("name", "RequestTimeoutError");
    }
  });

  it.each(things)("in a signal of the partner's own class: %s", async (_, make) => {
    const bomb = { get: throwing(make), enumerable: true };
    const base = {
      aborted: false,
      reason: undefined,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    };
    for (const name of ["aborted", "addEventListener"] as const) {
      const signal = Object.defineProperty({ ...base }, name, bomb) as never;
      expect((await typed(connect({ fetch: valid }).auth.validate({ signal }))).name).toMatch(/Unexpected|Request/);
    }
  });
});
