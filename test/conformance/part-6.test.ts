import { expect, it } from "vitest";
import { startReceiver } from "../emulator/work/callback-receiver.ts";
import { runControl } from "./support/controls.ts";
import { combined, orderInput, placeOrder, readOrder } from "./support/inputs.ts";
import { expectCreated, type Service, startService } from "./support/service.ts";

/** Ships an order, and waits until its callbacks have been sent once. */
async function ship(service: Service, order: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await runControl(service, "ship", { orders: order, ...more });
  await runControl(service, "callbacks.idle");
}

const advance = (service: Service, seconds: number) => runControl(service, "clock.advance", { span: { seconds } });

it("6 rule 1: each store has its own URL, and an empty one disables the callback", async () => {
  await using first = await startReceiver();
  await using second = await startReceiver();
  await using service = await startService();
  const { api, wholesale } = service.demo.stores;
  await runControl(service, "setCallbackUrl", { store: api, url: first.url });
  const [ofApi, ofWholesale, later] = [
    await placeOrder(service),
    await placeOrder(service, { storeReference: wholesale }),
    await placeOrder(service),
  ];
  await ship(service, ofWholesale);
  expect([first.orders(), second.orders()]).toEqual([[], []]);
  await ship(service, ofApi);
  await runControl(service, "setCallbackUrl", { store: api, url: null });
  await runControl(service, "setCallbackUrl", { store: wholesale, url: second.url });
  await ship(service, later);
  await ship(service, await placeOrder(service, { storeReference: wholesale }));
  expect([first.orders(), second.received.length]).toEqual([[ofApi], 1]);
});

it("6 rule 2: it fires when an order is shipped, and not when it is created, produced, held, changed or canceled", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url });
  const order = await placeOrder(service);
  const { dropshipAddress } = (await orderInput(service)).order;
  await service.put(`/orders/${order}/dropship-address`, { dropshipAddress: { ...dropshipAddress, city: "Utrecht" } });
  await service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 2, canceledQuantity: 1 }] });
  await runControl(service, "hold", { order, reason: "Check it" });
  await runControl(service, "release", { order });
  await runControl(service, "startProduction", { order });
  await runControl(service, "callbacks.idle");
  expect(receiver.received).toEqual([]);
  await ship(service, order);
  expect(receiver.orders()).toEqual([order]);
});

it("6 rule 2, 6 rule 3: it is a GET without a body, and carries no order details", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url, callbacks: { aliases: false } });
  const order = await placeOrder(service, { customIdentifier: "shop 1/ä&b=c" });
  await ship(service, order);
  const [callback, ...others] = receiver.received;
  expect(others).toEqual([]);
  expect([callback?.method, callback?.body]).toEqual(["GET", ""]);
  expect(callback?.headers).not.toHaveProperty("x-service-secret-key");
  const code = (await readOrder(service, order)).legacyOrderCode;
  expect(code).toMatch(/^DEMO-\d+$/);
  expect(callback?.query).toEqual({
    environment: "test",
    order_reference: code,
    order_reference_v2: order,
    store_code: "DEMO",
    custom_reference: "shop 1/ä&b=c",
  });
});

it("6 environment: it is prod in production", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url, environment: "production" });
  await ship(service, await placeOrder(service));
  expect(receiver.received).toMatchObject([{ query: { environment: "prod" } }]);
});

it("6 custom_reference: an order without a custom identifier has none, nor its alias", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url });
  await ship(service, await placeOrder(service));
  const names = ["environment", "order_reference", "order_reference_v2", "store_code"];
  expect(Object.keys(receiver.received[0]?.query ?? {}).sort()).toEqual([...names, "partner_code"].sort());
});

it("6 via_store_code, 6 aliases: an order through an integrator has the integrator's code", async () => {
  await using receiver = await startReceiver();
  const keys = [{ secretKey: "key-of-integrator", integrator: "HUB" }];
  await using service = await startService({ callbackUrl: receiver.url, keys });
  const json = await orderInput(service, { customIdentifier: "a-1" });
  const created = await service.send("POST", "/orders", { json, key: "key-of-integrator" });
  expectCreated(created);
  await ship(service, created.body.order.reference);
  expect(receiver.received).toMatchObject([
    {
      query: {
        via_store_code: "HUB",
        via_partner_code: "HUB",
        store_code: "DEMO",
        partner_code: "DEMO",
        custom_reference: "a-1",
        partner_reference: "a-1",
      },
    },
  ]);
});

it("6 kept parameters: those of the URL are kept, and the service's value wins on a collision", async () => {
  await using receiver = await startReceiver();
  const query = "token=a%20b+c&flag&store_code=mine&x=1&x=2&order_reference_v2=&environment=prod&empty=#part";
  await using service = await startService({ callbackUrl: `${receiver.url}?${query}`, callbacks: { aliases: false } });
  const order = await placeOrder(service);
  await ship(service, order);
  const { searchParams, search } = new URL(receiver.received[0]?.path ?? "", receiver.url);
  expect(search).toMatch(/^\?token=a%20b\+c&flag&x=1&x=2&empty=&/);
  const code = (await readOrder(service, order)).legacyOrderCode;
  expect([...searchParams].sort()).toEqual([
    ["empty", ""],
    ["environment", "test"],
    ["flag", ""],
    ["order_reference", code],
    ["order_reference_v2", order],
    ["store_code", "DEMO"],
    ["token", "a b c"],
    ["x", "1"],
    ["x", "2"],
  ]);
});

it.each([200, 201, 204, 299])("6 rule 4: a %i acknowledges", async (status) => {
  await using receiver = await startReceiver(status);
  await using service = await startService({ callbackUrl: receiver.url });
  await ship(service, await placeOrder(service));
  await advance(service, 3600);
  expect(receiver.received).toHaveLength(1);
});

const failures = [301, 302, 304, 400, 401, 404, 410, 429, 500, 503, "drop"] as const;
it.each(failures)("6 rule 4: after %s it is repeated about 5 minutes later", async (reply) => {
  await using receiver = await startReceiver(reply);
  await using service = await startService({ callbackUrl: receiver.url });
  const order = await placeOrder(service);
  await ship(service, order);
  await advance(service, 4.5 * 60);
  expect(receiver.orders()).toEqual([order]);
  await advance(service, 60);
  expect(receiver.orders()).toEqual([order, order]);
  expect(receiver.received[1]?.query).toEqual(receiver.received[0]?.query);
});

it("6 rule 4: it is repeated until it succeeds, also when nothing listens at first", async () => {
  const gone = await startReceiver();
  await gone.close();
  await using receiver = await startReceiver(500, 500, 500, 500);
  await using service = await startService({ callbackUrl: gone.url });
  await ship(service, await placeOrder(service));
  await runControl(service, "setCallbackUrl", { store: service.demo.stores.api, url: receiver.url });
  await advance(service, 4 * 330);
  expect(receiver.received).toHaveLength(4);
  await advance(service, 86_400);
  expect(receiver.received).toHaveLength(5);
});

it("6 rule 4: a receiver that does not respond in time gets it again", async () => {
  await using receiver = await startReceiver("silence");
  await using service = await startService({ callbackUrl: receiver.url, callbacks: { timeout: 3_000 } });
  const arrival = receiver.arrival();
  await runControl(service, "ship", { orders: await placeOrder(service) });
  await arrival;
  service.clock.advance(3_000);
  await runControl(service, "callbacks.idle");
  await advance(service, 330);
  expect(receiver.received).toHaveLength(2);
});

it("6 rule 5: duplicates arrive, on demand", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url, callbacks: { duplicates: 2 } });
  const order = await placeOrder(service);
  await ship(service, order);
  expect(receiver.orders()).toEqual([order, order, order]);
});

it("6 rule 6: it fires for dropship and combined orders that were created through v2", async () => {
  await using receiver = await startReceiver();
  await using service = await startService({ callbackUrl: receiver.url });
  const orders = [await placeOrder(service), await placeOrder(service, combined), await placeOrder(service, combined)];
  await ship(service, orders[0] ?? "");
  await runControl(service, "ship", { orders: orders.slice(1) });
  await runControl(service, "callbacks.idle");
  expect(receiver.orders().sort()).toEqual(orders.sort());
});
