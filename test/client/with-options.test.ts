import { ConfigurationError, DeadlineError, memoryStorage, RequestTimeoutError } from "pod-partner";
import { createOrderFollower, createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { callbackQuery } from "../callbacks/support.ts";
import { orderOf, subjects } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { setUp } from "../support/setup.ts";
import { shown } from "../support/shown.ts";

const ids = (count: number) => Array.from({ length: count }, (_, index) => index);

async function drain(outcomes: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of outcomes);
}

describe("partner.withOptions", () => {
  const context = useService({ retry: { retries: 1, baseDelay: 1 }, timeout: 5_000 });
  const yes = { body: { message: "Yes." } };

  it("sends its headers with every request of the new client, and none with those of the client", async () => {
    const { service, partner } = context;
    service.respondAlways(yes);
    const job = partner.withOptions({ headers: { "X-Job": "nightly", "X-Run": "1" } });
    await job.auth.validate();
    await job.auth.validate({ headers: { "x-run": "2" } });
    await partner.auth.validate();
    expect(service.requests.map(({ headers }) => [headers["x-job"], headers["x-run"]])).toEqual([
      ["nightly", "1"],
      ["nightly", "2"],
      [undefined, undefined],
    ]);
  });

  it("joins its options with those of a client that it made before", async () => {
    const { service, partner } = context;
    service.respondAlways(yes);
    const job = partner.withOptions({ headers: { "x-job": "nightly", "x-run": "1" } });
    await job.withOptions({ headers: { "X-Run": "2" }, timeout: 1_000 }).auth.validate();
    await job.withOptions({}).auth.validate();
    expect(service.requests.map(({ headers }) => [headers["x-job"], headers["x-run"]])).toEqual([
      ["nightly", "2"],
      ["nightly", "1"],
    ]);
  });

  it("replaces single fields of `retry`; a call replaces them again, and `false` sends one attempt", async () => {
    const { service, partner } = context;
    service.respondAlways({ status: 503, body: { code: "down", message: "Down." } });
    const count = async (call: Promise<unknown>) => {
      const before = service.requests.length;
      await rejection(call);
      return service.requests.length - before;
    };
    const patient = partner.withOptions({ retry: { retries: 2 } });
    expect(await count(patient.auth.validate())).toBe(3);
    expect(await count(patient.withOptions({ retry: { maxDelay: 2 } }).auth.validate())).toBe(3);
    expect(await count(patient.auth.validate({ retry: { retries: 0 } }))).toBe(1);
    expect(await count(patient.withOptions({ retry: false }).auth.validate())).toBe(1);
    expect(await count(partner.auth.validate())).toBe(2);
  });

  it.each<[what: string, options: object, path: string[]]>([
    ["an option of the client", { baseUrl: "https://partner.example/v2" }, ["baseUrl"]],
    ["an option of a call", { signal: AbortSignal.abort() }, ["signal"]],
    ["a misspelled name", { timeOut: 5 }, ["timeOut"]],
    ["a timeout that is not positive", { timeout: 0 }, ["timeout"]],
    ["a text as the deadline", { deadline: "5s" }, ["deadline"]],
    ["an unknown priority", { priority: "urgent" }, ["priority"]],
    ["an unknown part of `retry`", { retry: { retrys: 3 } }, ["retry", "retrys"]],
    ["the header of the key", { headers: { "X-Service-Secret-Key": secretKey } }, ["headers", "X-Service-Secret-Key"]],
  ])("refuses %s", (_, options, path) => {
    let error: unknown;
    try {
      context.partner.withOptions(options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).issues.map((issue) => issue.path)).toEqual([path]);
    expect(shown(error)).not.toContain(secretKey);
  });

  it.each([undefined, null, 5, "low"])("refuses %j instead of options", (options) => {
    expect(() => context.partner.withOptions(options as never)).toThrow(ConfigurationError);
  });

  it("does not show the key, and can be used as a function", async () => {
    const { service, partner } = context;
    service.respondAlways(yes);
    const { withOptions } = partner;
    const { auth, ...rest } = withOptions({ timeout: 1_000 });
    expect(shown([auth, rest, withOptions({})])).not.toContain(secretKey);
    const { validate } = auth;
    expect(await validate()).toEqual({ message: "Yes." });
  });
});

describe("the timeout and the deadline of withOptions", () => {
  it("apply to each attempt and to each call", async () => {
    const { partner, emulator, settle } = setUp({}, { retry: { retries: 0 }, timeout: 60_000 });
    emulator.faults.add({ on: "organization.stores.list", fault: "slow", ms: 20_000 });
    const error = (options: object) =>
      settle(
        rejection(
          partner
            .withOptions(options)
            .organization.stores.list()
            .then(() => undefined),
        ),
      );
    expect(await error({ timeout: 1_000 })).toBeInstanceOf(RequestTimeoutError);
    expect(await error({ deadline: 1_000 })).toBeInstanceOf(DeadlineError);
    expect(await settle(partner.organization.stores.list())).not.toEqual([]);
  });
});

describe("the priority of withOptions", () => {
  const names = ["shop-1", "shop-2", "shop-3"];
  type Setup = ReturnType<typeof setUp>;
  it.each<[what: string, begin: (client: Setup["partner"], emulator: Setup["emulator"]) => Promise<unknown>]>([
    ["single calls", (client) => Promise.all(names.map(() => client.rendertokens.get()))],
    [
      "orders.ensureMany",
      (client, emulator) => drain(client.orders.ensureMany(names.map((id) => orderOf(emulator, id)))),
    ],
    ["getMany", (client) => drain(client.shipments.getMany(names.map((id) => ref("Shipment", id.slice(-1)))))],
    ["changes", (client) => client.catalog.products.changes()],
  ])("applies to %s", async (_, begin) => {
    for (const [priority, isFirst] of [
      ["high", false],
      ["low", true],
    ] as const) {
      const { emulator, clock, partner, settle } = setUp({ limits: { default: { quota: 1, window: 10_000 } } });
      await settle(partner.auth.validate());
      const before = emulator.requests.length;
      const work = begin(partner.withOptions({ priority }), emulator);
      await clock.advance(0);
      await settle(Promise.all([work, partner.organization.stores.list()]));
      const paths = emulator.requests.slice(before).map(({ path }) => path);
      expect(paths.length).toBeGreaterThan(1);
      expect([priority, paths.indexOf("/stores") === 0]).toEqual([priority, isFirst]);
    }
  });
});

describe("a client and those that withOptions makes of it", () => {
  it("pace their calls together", async () => {
    const { emulator, partner, settle } = setUp({ limits: { default: { quota: 5, window: 1_000 } } });
    const clients = [partner, partner.withOptions({ timeout: 5_000 }), partner.withOptions({ priority: "low" })];
    await settle(Promise.all(clients.flatMap((client) => ids(10).map(() => client.organization.stores.list()))));
    expect(emulator.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(clients.map((client) => client.rateLimits.policies)).toEqual(clients.map(() => partner.rateLimits.policies));
  });

  it("place an order once when they place it at the same time", async () => {
    const { emulator, partner, settle, posts } = setUp();
    const order = orderOf(emulator, "shop-1001");
    const placed = await settle(
      Promise.all([partner.orders.ensure(order), partner.withOptions({ timeout: 9_000 }).orders.ensure(order)]),
    );
    expect(placed.map(({ existed }) => existed).sort()).toEqual([false, true]);
    expect(posts()).toBe(1);
  });

  it("upload a picture once when they upload it at the same time", async () => {
    const { emulator, partner, settle } = setUp();
    const clients = [partner, partner.withOptions({ priority: "low" })];
    const images = await settle(Promise.all(clients.map((client) => client.images.uploadOnce(jpeg))));
    expect(images.filter(({ uploaded }) => uploaded)).toHaveLength(1);
    expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it.each(subjects.filter(({ name }) => ["claims.createItemIssues", "claims.retract", "orders.cancel"].includes(name)))(
    "make $name once when one of them has left it in doubt",
    async (subject) => {
      const { clock, emulator, partner, connect, settle } = setUp();
      const { call, effects } = await settle(subject.prepare(connect({ deadline: 60_000 }), emulator));
      emulator.faults.add({ on: subject.on, nth: 1, fault: "slow", ms: 10_000, when: "before" });
      await settle(rejection(call(partner.withOptions({ deadline: 3_000 })).withResponse()));
      await settle(call(partner).withResponse());
      await clock.advance(60_000);
      expect(await settle(effects())).toBe(1);
    },
  );

  it("have one storage and one part of it", async () => {
    const storage = memoryStorage();
    const { emulator, partner, settle, posts, connect } = setUp({}, { storage });
    const order = orderOf(emulator, "shop-1001");
    const urgent = partner.withOptions({ priority: "high" });
    await settle(urgent.orders.ensure(order));
    await settle(connect().orders.ensure(order, { lookFirst: false }));
    expect(posts()).toBe(1);
    expect(await settle(urgent.storage.check())).toBe("ready");
    expect(urgent.storage.kind).toBe(partner.storage.kind);
    const seen: string[] = [];
    const follow = (client: typeof partner) =>
      createOrderFollower({ partner: client, storage, onChange: ({ order }) => void seen.push(order.reference) });
    const [{ reference } = { reference: ref("Order") }] = await settle(partner.orders.list().toArray());
    await settle(follow(urgent).update(reference));
    await settle(follow(partner).update(reference));
    expect(seen).toEqual([reference]);
  });

  it("have the same hooks and traces", async () => {
    const seen: string[] = [];
    const { partner, settle } = setUp(
      {},
      { hooks: { onResponse: ({ endpoint, status }) => void seen.push(`${endpoint} ${status}`) } },
    );
    const job = partner.withOptions({ timeout: 1_000 });
    const stop = job["~follow"]((trace, work) => {
      if (trace.kind === "call") seen.push(trace.endpoint);
      return work();
    });
    await settle(partner.organization.stores.list());
    await settle(job.organization.brands.list());
    stop();
    await settle(partner.organization.get());
    expect(seen).toEqual(["GET /stores", "GET /stores 200", "GET /brands", "GET /brands 200", "GET /organization 200"]);
  });

  it("can be given to a receiver", async () => {
    const { emulator, partner, settle } = setUp();
    const { reference } = await settle(partner.orders.create(orderOf(emulator, "shop-1001")));
    const seen: string[] = [];
    const receiver = createOrderUpdatedReceiver({
      partner: partner.withOptions({ timeout: 5_000 }),
      token: false,
      onOrderUpdated: ({ order }) => void seen.push(order.reference),
    });
    const url = `https://shop.example/callbacks?${callbackQuery({ token: undefined, order_reference_v2: reference })}`;
    expect(await settle(receiver.fetch(new Request(url)).then(({ status }) => status))).toBe(204);
    expect(seen).toEqual([reference]);
  });
});
