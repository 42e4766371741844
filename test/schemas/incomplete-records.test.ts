import { memoryStorage, PodPartner, type PodPartnerOptions } from "pod-partner";
import { createOrderFollower } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { createFastClock } from "../support/fast-clock.ts";
import { dropshipOrder } from "../support/orders.ts";
import { ref } from "../support/references.ts";

type Answer = (path: string, method: string) => unknown;

/** A client whose service responds with these bodies, and what it reports. `undefined` is a 404 of the service. */
function connect(answer: Answer, options: PodPartnerOptions = {}) {
  const reports: string[] = [];
  const posts: string[] = [];
  const fetch = async (request: Request) => {
    const path = new URL(request.url).pathname.replace("/v2", "");
    if (request.method === "POST") posts.push(path);
    const body = answer(path, request.method);
    if (body === "lost") throw new TypeError("fetch failed");
    if (body === undefined) return Response.json({ code: "not_found", message: "No." }, { status: 404 });
    return Response.json(body);
  };
  const hooks = {
    onInvalidResponse: ({ issues }: { readonly issues: readonly { readonly path: readonly (string | number)[] }[] }) =>
      void reports.push(...issues.map(({ path }) => path.join("."))),
  };
  const baseUrl = "https://partner.test/v2";
  const partner = new PodPartner({ baseUrl, secretKey: "a-secret-key", fetch, hooks, ...options });
  return { partner, reports, posts };
}

const line = { productReference: ref("Product"), imageReference: ref("Image"), quantity: 2 };
const order = { ...dropshipOrder, orderlines: [line] };
const units = { index: 1, quantity: 2, canceledQuantity: 0, shippedQuantity: 0 };
/** An order with nothing that the helpers do not use. */
const bare = { reference: ref("Order"), orderlines: [{ ...units, ...line, annotations: "none" }] };
const existing: Answer = (path) => (path.startsWith("/utilities") ? { orderReference: ref("Order") } : { order: bare });

describe("a helper needs only the fields that it uses", () => {
  it("orders.ensure finds an order without its status, hold and legacy code", async () => {
    const { partner, reports, posts } = connect(existing);
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: true });
    expect(posts).toEqual([]);
    expect(reports.sort()).toEqual([
      "order.legacyOrderCode",
      "order.onHold",
      "order.orderlines.0.annotations",
      "order.status",
    ]);
  });

  it("orders.ensure reports an address that it cannot compare", async () => {
    const { partner, reports } = connect((path, method) =>
      path.startsWith("/addresses")
        ? { address: { line1: "Kade 12" } }
        : path.startsWith("/utilities")
          ? existing(path, method)
          : { order: { ...bare, dropshipAddressReference: ref("Address") } },
    );
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: true });
    expect(reports).toContain("address");
  });

  it.each(["productReference", "quantity"])("orders.ensure names the %s that it needs", async (field) => {
    const { [field]: _, ...rest } = { ...units, ...line } as Record<string, unknown>;
    const { partner } = connect((path, method) =>
      path.startsWith("/utilities") ? existing(path, method) : { order: { ...bare, orderlines: [rest] } },
    );
    expect(await rejection(partner.orders.ensure(order))).toMatchObject({
      name: "ResponseValidationError",
      issues: [{ path: ["order", "orderlines", 0, field] }],
    });
  });

  it("orders.cancelRemaining needs the quantities only", async () => {
    const { partner, posts } = connect(() => ({ order: { orderlines: [units] } }));
    expect(await partner.orders.cancelRemaining(ref("Order"))).toEqual({
      canceled: [{ index: 1, canceledQuantity: 2 }],
    });
    expect(posts).toEqual([`/orders/${ref("Order")}/cancel`]);
  });

  it("renders.wait needs the status only", async () => {
    const { partner } = connect(() => ({ render: { status: "completed" } }));
    expect(await partner.renders.wait(ref("Render"))).toEqual({ status: "completed" });
    const other = connect(() => ({ render: { reference: ref("Render") } }));
    expect(await rejection(other.partner.renders.wait(ref("Render")))).toMatchObject({
      name: "ResponseValidationError",
      issues: [{ path: ["render", "status"] }],
    });
  });

  it("renders.wait warns once of an interval below 60 seconds", async () => {
    const warned: unknown[] = [];
    const logger = { warn: (message: unknown) => warned.push(message) };
    const { partner } = connect(() => ({ render: { status: "completed" } }), { logger, hooks: {} });
    await partner.renders.wait(ref("Render"), { interval: 60_000 });
    expect(warned.filter((message) => String(message).includes("60 seconds"))).toEqual([]);
    await partner.renders.wait(ref("Render"), { interval: 5_000 });
    await partner.renders.wait(ref("Render"), { interval: 5_000 });
    expect(warned.filter((message) => String(message).includes("60 seconds"))).toHaveLength(1);
  });

  it("a claim whose response was lost is found without its comment, names and URLs", async () => {
    const created = new Date(Date.now() + 1_000).toISOString();
    const claim = {
      reference: ref("Claim"),
      shipmentReference: ref("Shipment"),
      claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategory: { reference: ref("Claimcategory") } }],
      created,
    };
    const { partner, posts } = connect(
      (path, method) => {
        if (method === "POST") return "lost";
        return path === "/claims" ? { claims: [{ reference: ref("Claim") }], nextCursor: null } : { claim };
      },
      { clock: createFastClock(100) },
    );
    const filed = await partner.claims.createItemIssues({
      shipmentReference: ref("Shipment"),
      orderReference: ref("Order"),
      claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory") }],
    });
    expect(filed).toEqual({ reference: ref("Claim"), existed: false, recovered: true });
    expect(posts).toHaveLength(1);
  });

  it("a follower hands over an order that lacks all but its lines", async () => {
    const essential = { reference: ref("Order"), orderlines: [{ ...units, productReference: ref("Product") }] };
    const { partner } = connect(() => ({ order: essential }));
    const kinds: string[] = [];
    const follower = createOrderFollower({
      partner,
      storage: memoryStorage(),
      onChange: ({ changes }) => void kinds.push(...changes.map(({ kind }) => kind)),
    });
    await follower.update(ref("Order"));
    expect(kinds.length).toBeGreaterThan(0);
  });

  it("getMany and lists return incomplete records", async () => {
    const product = { reference: ref("Product") };
    const { partner } = connect((path) =>
      path === "/products"
        ? { products: [product, { reference: ref("Product", "2") }], nextCursor: null }
        : { product },
    );
    expect(await partner.catalog.products.list().toArray()).toHaveLength(2);
    const outcomes: unknown[] = [];
    for await (const outcome of partner.catalog.products.getMany([ref("Product")])) outcomes.push(outcome);
    expect(outcomes).toMatchObject([{ ok: true, value: product }]);
    expect((await partner.catalog.products.changes()).added).toHaveLength(2);
  });
});

describe("what the service says", () => {
  it("is kept: unknown fields of the response to a creation, which replace none of the SDK's own", async () => {
    const extra = { priority: "high", existed: true, customIdentifier: "other", recovered: true };
    const { partner } = connect((path, method) => {
      if (method === "GET") return undefined;
      return path === "/orders"
        ? { order: { reference: ref("Order"), ...extra } }
        : { claim: { reference: ref("Claim"), ...extra } };
    });
    const result = { reference: ref("Order"), priority: "high", existed: false, recovered: false };
    expect(await partner.orders.create(dropshipOrder)).toEqual({ ...result, customIdentifier: "shop-1001" });
    const claim = { shipmentReference: ref("Shipment") };
    expect(await partner.claims.createPackageMissing(claim)).toMatchObject({ priority: "high", recovered: false });
    const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory") }];
    const issues = { ...claim, orderReference: ref("Order"), claimlines };
    expect(await partner.claims.createItemIssues(issues)).toMatchObject({ priority: "high", recovered: false });
  });

  it.each([400, 401, 403, 404, 409, 410, 429, 500, 501])("is the serviceMessage of a %i", async (status) => {
    const secretKey = "a-secret-key-of-mine";
    const fetchOf = (body: unknown) => async () =>
      typeof body === "string" ? new Response(body, { status }) : Response.json(body, { status });
    const errorOf = async (body: unknown) =>
      rejection(
        new PodPartner({
          baseUrl: "https://partner.test/v2",
          secretKey,
          fetch: fetchOf(body),
          retry: { retries: 0 },
        }).orders.get(ref("Order")),
      );
    const code = "shipment_too_recent";
    const error = await errorOf({ code, message: `possible from 2026-12-05, ${secretKey}` });
    expect(error).toMatchObject({ serviceMessage: expect.stringMatching(/^possible from 2026-12-05, /) });
    expect(JSON.stringify(error)).toContain('"serviceMessage":"possible from');
    expect(JSON.stringify(error)).not.toContain(secretKey);
    expect(await errorOf({ error: { code, message: "wrapped" } })).toMatchObject({ serviceMessage: "wrapped" });
    for (const none of [{ code }, { message: 5 }, "<html></html>", ""])
      expect(await errorOf(none)).toMatchObject({ serviceMessage: undefined });
  });
});
