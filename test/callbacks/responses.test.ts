import { inspect } from "node:util";
import { ConnectionError, GoneError, NotFoundError, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver, type OrderUpdated } from "pod-partner/callbacks";
import { createEmulator, createManualClock } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";
import { ref } from "../support/references.ts";
import { createReader, createReceiver, orderFields, settled, token } from "./support.ts";

const reference = ref("Order", "1");

const missing = (status: 404 | 410, code: string | undefined) => {
  const details = {
    response: { status, headers: {}, body: undefined },
    message: "gone",
    endpoint: "GET /orders",
    code,
  };
  return status === 404 ? new NotFoundError(details) : new GoneError(details);
};

describe("a callback", () => {
  it("is acknowledged with a 204 after its handler has finished", async () => {
    const handled = Promise.withResolvers<void>();
    const { receive } = createReceiver({ token: false, onOrderUpdated: () => handled.promise });
    let status: number | undefined;
    const response = receive().then((received) => {
      status = received.status;
      return received;
    });
    await settled();
    expect(status).toBeUndefined();
    handled.resolve();
    const received = await response;
    expect(received.status).toBe(204);
    expect(await received.text()).toBe("");
  });

  it("makes one request for the order, with high priority and the time that is left", async () => {
    const { receive, reads } = createReceiver({ timeout: 3_000 });
    await receive();
    expect(reads).toEqual([[reference, { priority: "high", deadline: 3_000, signal: expect.any(AbortSignal) }]]);
  });

  it("hands over the order and what the callback says about it, without the token", async () => {
    const updates: OrderUpdated[] = [];
    const { receive } = createReceiver({ onOrderUpdated: (update) => updates.push(update) });
    await receive({ custom_reference: "shop-1001", via_store_code: "hub" });
    expect(updates).toEqual([
      {
        order: orderFields(reference),
        orderReference: reference,
        customIdentifier: "shop-1001",
        storeCode: "shop-7",
        viaStoreCode: "hub",
        environment: "test",
        signal: expect.any(AbortSignal),
      },
    ]);
    expect(inspect(updates, { depth: 9 })).not.toContain(token);
  });

  it("does not replace what the order itself says", async () => {
    const updates: OrderUpdated[] = [];
    const order = { ...orderFields(reference), customIdentifier: "true-1", viaStoreCode: null };
    const partner = createReader(async () => order);
    const { receive } = createReceiver({ partner, onOrderUpdated: (update) => updates.push(update) });
    await receive({ custom_reference: "forged-1", store_code: "forged-2", via_store_code: "forged-3" });
    expect(updates).toMatchObject([{ customIdentifier: "true-1", storeCode: "shop-7", viaStoreCode: undefined }]);
  });

  it("receives a 503 when the handler throws or rejects, and onError receives the error", async () => {
    const error = new RangeError("the database is full");
    for (const onOrderUpdated of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const { receive, failures } = createReceiver({ onOrderUpdated });
      expect((await receive()).status).toBe(503);
      expect(failures).toEqual([{ orderReference: reference, error, status: 503 }]);
    }
  });

  it.each([null, undefined, 5, {}])("receives a 405 for what is no request: %s", async (request) => {
    const { receiver } = createReceiver({});
    expect((await receiver.fetch(request as never)).status).toBe(405);
  });

  it("receives a 503 when the order cannot be read, and its handler is not called", async () => {
    const error = new ConnectionError({ endpoint: "GET /orders", reason: "reset", sent: true });
    const onOrderUpdated = vi.fn();
    const partner = createReader(() => Promise.reject(error));
    const { receive, failures } = createReceiver({ partner, onOrderUpdated });
    expect((await receive()).status).toBe(503);
    expect(onOrderUpdated).not.toHaveBeenCalled();
    expect(failures).toEqual([{ orderReference: reference, error, status: 503 }]);
  });

  it("receives a 503 when the handler itself meets an order that does not exist", async () => {
    const { receive } = createReceiver({ onOrderUpdated: () => Promise.reject(missing(404, "not_found")) });
    expect((await receive()).status).toBe(503);
  });

  it.each([
    [404, false],
    [410, false],
    [410, token],
  ] as const)(
    "of an order that does not exist (%i, token %s) is acknowledged like any other, and reported",
    async (status, token) => {
      const error = missing(status, "not_found");
      const onOrderUpdated = vi.fn();
      const gone = createReceiver({ token, partner: createReader(() => Promise.reject(error)), onOrderUpdated });
      const received = await gone.receive();
      const normal = await createReceiver().receive();
      expect([received.status, [...received.headers]]).toEqual([normal.status, [...normal.headers]]);
      expect(gone.failures).toEqual([{ orderReference: reference, error, status: 204 }]);
      expect(onOrderUpdated).not.toHaveBeenCalled();
    },
  );

  it("receives a 503 with the token while the service does not show the order, for an hour in which it is repeated", async () => {
    const clock = createManualClock();
    let shown = false;
    const error = missing(404, "not_found");
    const partner = createReader(async (order) => {
      if (!shown) throw error;
      return orderFields(order);
    });
    const { receive, failures } = createReceiver({ partner, clock });
    const statuses: number[] = [];
    const repeat = async (minutes: number) => {
      for (let passed = 0; passed < minutes; passed += 5) {
        statuses.push((await receive()).status);
        await clock.advance(5 * 60_000);
      }
    };
    await repeat(10);
    shown = true;
    await repeat(5);
    // A replica that is behind again has its own hour.
    shown = false;
    await repeat(70);
    expect(statuses).toEqual([503, 503, 204, ...Array(13).fill(503), 204]);
    expect(failures).toHaveLength(16);
    expect(failures.at(-1)).toEqual({ orderReference: reference, error, status: 204 });
    expect(clock.pending).toBe(0);
  });

  it("of 500 orders that are not shown does not hold up others, with the token", async () => {
    const partner = createReader(async (order) => {
      if (order !== reference) throw missing(404, "not_found");
      return orderFields(order);
    });
    const { receive } = createReceiver({ partner });
    for (let number = 0; number < 500; number += 1)
      expect((await receive({ order_reference_v2: ref("Order", `f${number}`) })).status).toBe(503);
    expect((await receive()).status).toBe(204);
  });

  it("receives a 503 after a 404 that is not the service's own, such as that of a gateway", async () => {
    const partner = createReader(() => Promise.reject(missing(404, undefined)));
    expect((await createReceiver({ partner }).receive()).status).toBe(503);
  });

  it("that is forged with a wrong, a short, a long or no token receives a 403 and costs no request", async () => {
    const { receive, reads, failures } = createReceiver();
    for (const wrong of [`${token.slice(0, -1)}0`, token.slice(0, 3), token.repeat(9), "", undefined]) {
      const received = await receive({ token: wrong, environment: "nonsense" });
      expect(received.status).toBe(403);
      expect(await received.text()).not.toContain(token);
    }
    expect([reads, failures]).toEqual([[], []]);
  });

  it("may have a token with a plus sign, percent-encoded in the URL or not", async () => {
    const base64 = "4f1c+0a8b/5d7e==";
    for (const given of [base64, base64.replace("+", " ")]) {
      expect((await createReceiver({ token: base64 }).receive({ token: given })).status).toBe(204);
    }
    expect((await createReceiver({ token: base64 }).receive({ token: base64.replace("+", "") })).status).toBe(403);
  });

  it("needs no token when the receiver has none", async () => {
    expect((await createReceiver({ token: false }).receive({ token: undefined })).status).toBe(204);
  });

  it("with invalid parameters receives a 400 that names them", async () => {
    const { receive, reads } = createReceiver();
    const received = await receive({ order_reference_v2: "Order_x", environment: "live" });
    expect(received.status).toBe(400);
    expect(await received.text()).toMatch(/environment: .*\n {2}order_reference_v2: /);
    expect(reads).toEqual([]);
  });

  it("of another environment than the receiver's receives a 400 and costs no request", async () => {
    const { receive, reads } = createReceiver({ environment: "prod" });
    expect((await receive()).status).toBe(400);
    expect((await receive({ environment: "prod" })).status).toBe(204);
    expect(reads).toHaveLength(1);
  });

  it("with a URL that is too long receives a 414 before its query is read, also with the right token", async () => {
    const parse = vi.spyOn(globalThis, "URLSearchParams");
    const { receiver, reads } = createReceiver();
    const url = `/callbacks?token=${token}&${"a=1&".repeat(500_000)}`;
    const { status, headers } = await receiver.fetch({ method: "GET", url });
    const parsed = parse.mock.calls.length;
    parse.mockRestore();
    expect([status, headers.get("cache-control"), parsed, reads]).toEqual([414, "no-store", 0, []]);
  });

  it.each(["POST", "HEAD", "PUT", "DELETE", "OPTIONS"])("as %s receives a 405", async (method) => {
    const { receive, reads } = createReceiver();
    const received = await receive({}, { method });
    expect([received.status, received.headers.get("allow")]).toEqual([405, "GET"]);
    expect(reads).toEqual([]);
  });

  it("has a response that no cache keeps, whatever its status", async () => {
    const { receive } = createReceiver();
    const received = await Promise.all([receive(), receive({ token: "x" }), receive({ environment: "x" })]);
    expect(received.map(({ status, headers }) => [status, headers.get("cache-control")])).toEqual([
      [204, "no-store"],
      [403, "no-store"],
      [400, "no-store"],
    ]);
  });
});

describe("a failure", () => {
  const failing = { onOrderUpdated: () => Promise.reject(new RangeError("full")) };

  it("is written to the console without onError, with the order and without the token", async () => {
    const write = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await createReceiver({ ...failing, onError: undefined }).receive();
    const texts = write.mock.calls.map((values) => values.map((value) => inspect(value)).join(" "));
    write.mockRestore();
    expect(texts).toEqual([expect.stringMatching(new RegExp(`503.*${reference}[\\s\\S]*RangeError: full`))]);
    expect(texts[0]).not.toContain(token);
  });

  it("of onError itself changes nothing", async () => {
    for (const onError of [
      () => Promise.reject(new Error("the logger is down")),
      () => {
        throw new Error("the logger is down");
      },
    ]) {
      expect((await createReceiver({ ...failing, onError }).receive()).status).toBe(503);
    }
  });
});

describe("with a real client", () => {
  const emulator = createEmulator({ seed: { orders: 1 } });
  const { baseUrl, secretKey, fetch } = emulator;
  const partner = new PodPartner({ baseUrl, secretKey, fetch, retry: { retries: 0 } });

  it("the handler receives the order as the service has it, and an unknown order is acknowledged", async () => {
    const [listed] = await partner.orders.list().toArray();
    const updates: OrderUpdated[] = [];
    const failures: unknown[] = [];
    const receiver = createOrderUpdatedReceiver({
      partner,
      token: false,
      onOrderUpdated: (update) => updates.push(update),
      onError: ({ error }) => failures.push(error),
    });
    const query = (order: string) => `?environment=test&order_reference_v2=${order}&store_code=s`;
    const request = (order: string) => new Request(`https://shop.example/${query(order)}`);
    expect((await receiver.fetch(request(listed?.reference ?? ""))).status).toBe(204);
    expect((await receiver.fetch(request(ref("Order", "zzz")))).status).toBe(204);
    expect(updates.map(({ order }) => order.reference)).toEqual([listed?.reference]);
    expect(failures).toEqual([expect.any(NotFoundError)]);
  });

  it("a failing service gives a 503", async () => {
    const [listed] = await partner.orders.list().toArray();
    const { receive } = createReceiver({ partner });
    emulator.faults.add({ on: "orders.get", fault: "status", status: 500 });
    expect((await receive({ order_reference_v2: listed?.reference ?? "" })).status).toBe(503);
  });
});
