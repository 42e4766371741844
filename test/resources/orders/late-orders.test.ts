import { PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { createFastClock } from "../../support/fast-clock.ts";
import { secretKey, useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";
import { setUp } from "../../support/setup.ts";
import type { StubResponse } from "../../support/stub-service.ts";

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};
const nowhere: StubResponse = { status: 404, body: { code: "not_found", message: "no such order" } };
const there: StubResponse = { body: { orderReference: ref("Order") } };

describe("an order that a look-up shows before it can be read", () => {
  const unread = { on: "orders.get", fault: "status", status: 404, code: "not_found", when: "before" } as const;

  it("is compared when it can be read", async () => {
    const { emulator, partner, settle, posts } = setUp();
    const order = orderOf(emulator, "shop-1");
    const { reference } = await settle(partner.orders.ensure(order));
    emulator.faults.add({ ...unread, nth: (n) => n <= 3 });
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ reference, existed: true });
    expect(posts()).toBe(1);
  });

  it("is an error when it can still not be read after the time that the service may take", async () => {
    const { clock, emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "shop-1");
    await settle(partner.orders.ensure(order));
    emulator.faults.add(unread);
    const began = clock.now();
    expect(await settle(rejection(partner.orders.ensure(order)))).toMatchObject({ name: "NotFoundError" });
    expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
  });
});

describe("an order whose response was lost", () => {
  const context = useService();
  const connect = () =>
    new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      retry: { retries: 2, baseDelay: 0 },
      clock: createFastClock(400),
      timeout: 400,
    });
  const posts = () => context.service.requests.filter(({ method }) => method === "POST").length;

  it("is looked up once more after a long Retry-After, right before its retry", async () => {
    let looks = 0;
    context.service.respondAlways(({ method }) => {
      if (method === "POST") return { status: 503, headers: { "retry-after": "30" } };
      looks += 1;
      return looks <= 4 ? nowhere : there;
    });
    expect(await connect().orders.create(order)).toMatchObject({ reference: ref("Order"), recovered: true });
    expect([posts(), looks]).toEqual([1, 5]);
  });

  it("is retried after that when it still does not exist", async () => {
    let sent = 0;
    context.service.respondAlways(({ method }) => {
      if (method !== "POST") return nowhere;
      sent += 1;
      return sent === 1
        ? { status: 503, headers: { "retry-after": "30" } }
        : { status: 201, body: { order: { reference: ref("Order") } } };
    });
    expect(await connect().orders.create(order)).toMatchObject({ recovered: false });
    expect(sent).toBe(2);
  });

  it("is retried after a 408 when the call only reads", async () => {
    context.service.respond({ status: 408 }, there);
    expect(await connect().orders.lookup({ customIdentifier: "shop-1" })).toBe(ref("Order"));
  });

  it("is looked up with the call's own timeout, headers and retries", async () => {
    const clock = createManualClock();
    const lost = () => Promise.reject<StubResponse>(new Error("hang up"));
    const never = () => new Promise<StubResponse>(() => undefined);
    context.service.respondAlways(({ method }) => (method === "POST" ? lost() : never()));
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, clock });
    const began = clock.now();
    const options = { timeout: 3_000, headers: { "x-trace": "7" }, retry: { retries: 0 } };
    const error = await settle(clock, rejection(partner.orders.create(order, options)), 10);
    expect(error).toMatchObject({ name: "OutcomeUnknownError" });
    expect(clock.now() - began).toBeLessThan(20_000);
    const traces = context.service.requests.map(({ method, headers }) => `${method} ${headers["x-trace"]}`);
    expect(new Set(traces)).toEqual(new Set(["POST 7", "GET 7"]));
  });
});
