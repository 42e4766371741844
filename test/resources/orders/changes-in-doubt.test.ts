import {
  ConflictError,
  memoryStorage,
  OutcomeUnknownError,
  type PodPartner,
  type PodPartnerOptions,
} from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { fetchFailed } from "../../support/fetch-failed.ts";
import { sentAddress } from "../../support/orders.ts";
import { partnerWith } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";

type Answer = (() => Response | Promise<Response>) | Response;

const orderReference = ref("Order");
const refusal = (status: number, code: string) =>
  Response.json({ code, message: "The service refuses it." }, { status });
const badGateway = () =>
  new Response("<h1>Bad Gateway</h1>", { status: 502, headers: { "content-type": "text/html" } });
const reset = () => {
  throw fetchFailed("ECONNRESET", "read");
};
const refusedConnection = () => {
  throw fetchFailed("ECONNREFUSED", "connect");
};

/** The quantities of a line, as `orders.get` returns them. */
const lineOf = (index: number, quantity: number, canceledQuantity: number, shippedQuantity = 0) => ({
  index,
  productReference: ref("Product"),
  quantity,
  canceledQuantity,
  shippedQuantity,
  annotations: [],
});
const orderWith = (...orderlines: readonly object[]) => ({
  reference: orderReference,
  status: {},
  orderlines,
  onHold: null,
  dropshipAddressReference: ref("Address", "2"),
  legacyOrderCode: "nl1-100001",
});

/** A service that gives one answer to each change, and one to each look; the last answer of a list is given again. */
function service(
  answers: { changes: readonly Answer[]; orders?: readonly Answer[]; addresses?: readonly Answer[] },
  options: PodPartnerOptions = {},
) {
  const clock = createManualClock();
  const requests: string[] = [];
  const looks: number[] = [];
  const next = (list: readonly Answer[] | undefined, count: number): Promise<Response> => {
    const answer = list?.[count] ?? list?.at(-1) ?? expect.fail("an unexpected request");
    return Promise.resolve(answer instanceof Response ? answer.clone() : answer());
  };
  const counts = { changes: 0, orders: 0, addresses: 0 };
  const fetch = async ({ method, url }: Request, init?: RequestInit): Promise<Response> => {
    const path = new URL(url).pathname.replace("/v2", "");
    const kind = method !== "GET" ? "changes" : path.startsWith("/addresses") ? "addresses" : "orders";
    requests.push(`${method} ${path.replace(orderReference, "R")}`);
    if (kind === "orders") looks.push(clock.now());
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
    });
    return Promise.race([next(answers[kind], counts[kind]++), aborted]);
  };
  const partner = partnerWith({ fetch, clock, ...options });
  return { clock, requests, looks, partner, settle: <T>(call: PromiseLike<T>) => settle(clock, call, 50) };
}

const showing = (...orderlines: readonly object[]) => Response.json({ order: orderWith(...orderlines) });
const inProduction = refusal(409, "already_in_production");
const completed = refusal(409, "order_completed");
const wanted = [{ index: 1, canceledQuantity: 2 }];

describe("a cancellation whose response was lost", () => {
  it("succeeds when a repeated one is refused, and the order shows the wanted totals", async () => {
    const { partner, settle, requests } = service({
      changes: [badGateway, inProduction],
      orders: [showing(lineOf(1, 3, 2), lineOf(2, 1, 0))],
    });
    const { data, timeline, response } = await settle(partner.orders.cancel(orderReference, wanted).withResponse());
    expect([data, response.status]).toEqual([undefined, 200]);
    expect(requests).toEqual(["POST /orders/R/cancel", "POST /orders/R/cancel", "GET /orders/R"]);
    expect(timeline.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      "attempt 502",
      expect.stringMatching(/^backoff/),
      "attempt 409",
      "lookup made",
    ]);
  });

  it.each([
    [400, "unknown_input_error"],
    [401, "unauthorized"],
    [403, "store_not_writable_via_api"],
    [404, "not_found"],
    [409, "canceled_quantity_exceeds_shippable"],
    [410, "gone"],
    [422, "unprocessable"],
    [501, "not_implemented"],
  ])("succeeds after a refusal with %d %s, too", async (status, code) => {
    const { partner, settle } = service({
      changes: [reset, refusal(status, code)],
      orders: [showing(lineOf(1, 3, 2))],
    });
    await settle(partner.orders.cancel(orderReference, wanted));
  });

  it("is refused when the order does not show it for as long as the service may work on the request", async () => {
    const { partner, settle, looks } = service({
      changes: [badGateway, inProduction],
      orders: [showing(lineOf(1, 3, 0))],
    });
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted)));
    expect(error).toMatchObject({ name: "ConflictError", code: "already_in_production" });
    // The response was lost at once: the service has four seconds.
    expect((looks.at(-1) ?? 0) - (looks[0] ?? 0)).toBeGreaterThan(3_000);
    const lookUps = error instanceof ConflictError ? error.timeline.filter(({ step }) => step === "lookup") : [];
    expect(lookUps.map(({ outcome }) => outcome)).toEqual(looks.map(() => "not made"));
  });

  const never = () => new Promise<Response>(() => undefined);
  it.each([
    ["a timeout", [never, inProduction]],
    ["a timeout and a later attempt that was lost at once", [never, reset, inProduction]],
  ])("is looked up for longer after %s, and found when the service finishes late", async (_, changes) => {
    const late = [...Array<Response>(6).fill(showing(lineOf(1, 3, 0))), showing(lineOf(1, 3, 2))];
    const { partner, settle, looks } = service({ changes, orders: late });
    await settle(partner.orders.cancel(orderReference, wanted));
    expect(looks).toHaveLength(7);
  });

  it.each([
    ["one line has the wanted total and the other has less", [lineOf(1, 3, 2), lineOf(2, 1, 0)]],
    ["one line has more and the other has less", [lineOf(1, 3, 3), lineOf(2, 1, 0)]],
    ["the rest of a line is as much as was wanted", [lineOf(1, 3, 0, 1), lineOf(2, 1, 0)]],
  ])("is refused after all look-ups when %s", async (_, lines) => {
    const { partner, settle, looks } = service({ changes: [badGateway, inProduction], orders: [showing(...lines)] });
    const both = [...wanted, { index: 2, canceledQuantity: 1 }];
    const error = await settle(rejection(partner.orders.cancel(orderReference, both)));
    expect(ConflictError.isInstance(error)).toBe(true);
    expect(looks.length).toBeGreaterThan(1);
  });

  const tooMuch = refusal(409, "canceled_quantity_exceeds_shippable");
  // It cancels all of its lines or none: one line that lacks it is the proof.
  it.each([
    ["one of its lines cannot be canceled", inProduction, [lineOf(1, 3, 0), lineOf(2, 1, 0, 1)]],
    ["the order lacks one of its lines", inProduction, [lineOf(1, 3, 2)]],
    ["too much of a line was shipped before", tooMuch, [lineOf(1, 3, 0, 2), lineOf(2, 1, 0)]],
    ["another client has canceled more of the other line", tooMuch, [lineOf(1, 3, 3), lineOf(2, 1, 0, 1)]],
  ])("is refused at once when %s", async (_, refused, lines) => {
    const { partner, settle, looks } = service({ changes: [badGateway, refused], orders: [showing(...lines)] });
    const both = [...wanted, { index: 2, canceledQuantity: 1 }];
    const error = await settle(rejection(partner.orders.cancel(orderReference, both)));
    if (!ConflictError.isInstance(error)) throw error;
    expect(looks).toHaveLength(1);
    expect(error.timeline.at(-1)).toMatchObject({ step: "lookup", outcome: "not made" });
  });

  it("is unknown when one line has the wanted total and another client has canceled more of the other", async () => {
    const { partner, settle } = service({
      changes: [badGateway, inProduction],
      orders: [showing(lineOf(1, 3, 2), lineOf(2, 2, 2))],
    });
    const both = [...wanted, { index: 2, canceledQuantity: 1 }];
    const error = await settle(rejection(partner.orders.cancel(orderReference, both)));
    expect(OutcomeUnknownError.isInstance(error)).toBe(true);
  });

  it("is unknown when `body` adds a field that may change what it means", async () => {
    const { partner, settle } = service({ changes: [badGateway, inProduction], orders: [showing(lineOf(1, 3, 2))] });
    const options = { body: { orderlines: [{ refund: false }] } };
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted, options)));
    expect(OutcomeUnknownError.isInstance(error)).toBe(true);
  });

  it("is unknown when another client has canceled more: before or after it, nothing shows", async () => {
    const { partner, settle, looks } = service({
      changes: [badGateway, refusal(409, "canceled_quantity_below_current")],
      orders: [showing(lineOf(1, 3, 3))],
    });
    // The caller's own function, which awaits the call.
    const cancel = async () => await partner.orders.cancel(orderReference, wanted);
    const error = await settle(rejection(cancel()));
    if (!OutcomeUnknownError.isInstance(error)) throw error;
    expect(error).toMatchObject({
      isRetryable: true,
      identifiers: { orderReference, orderlines: wanted },
      cause: { name: "ConflictError", code: "canceled_quantity_below_current" },
      endpoint: "POST /orders/{orderReference}/cancel",
    });
    expect(error.message).toContain(`orders.get("${orderReference}")`);
    expect(error.stack).toContain("changes-in-doubt.test.ts");
    expect(looks).toHaveLength(1);
  });

  it("compares the totals that were sent, not those of the caller's object", async () => {
    const lines = wanted.map((line) => ({ ...line }));
    const { partner, settle } = service({
      changes: [
        () => {
          lines[0] = { index: 1, canceledQuantity: 3 };
          return badGateway();
        },
        inProduction,
      ],
      orders: [showing(lineOf(1, 3, 2))],
    });
    await settle(partner.orders.cancel(orderReference, lines));
  });

  it.each([
    ["fails", () => refusal(500, "internal"), "ServerError"],
    ["is refused", () => refusal(401, "unauthorized"), "AuthenticationError"],
    ["finds a proxy's 404", () => new Response("no route", { status: 404 }), "NotFoundError"],
    ["is not an order", () => Response.json({ order: { orderlines: 7 } }), "ResponseValidationError"],
  ])("is unknown when the look %s", async (_, look, cause) => {
    const { partner, settle } = service({ changes: [badGateway, inProduction], orders: [look] });
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted)));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: cause } });
  });

  it("is refused when the service has no such order", async () => {
    const unknown = refusal(404, "not_found");
    const { partner, settle } = service({ changes: [badGateway, unknown], orders: [unknown] });
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted)));
    expect(error).toMatchObject({ name: "NotFoundError", endpoint: "POST /orders/{orderReference}/cancel" });
  });

  it("is unknown when the later attempts were never sent", async () => {
    const { partner, settle } = service({ changes: [badGateway, refusedConnection], orders: [refusedConnection] });
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted)));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "ConnectionError", sent: false } });
  });

  it("ends at the call's deadline as unknown", async () => {
    const { partner, settle, clock } = service({
      changes: [() => new Promise<Response>(() => undefined), inProduction],
      orders: [showing(lineOf(1, 3, 0))],
    });
    const began = clock.now();
    const options = { timeout: 1_000, deadline: 9_000 };
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted, options)));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "DeadlineError" } });
    expect(clock.now() - began).toBeLessThanOrEqual(9_100);
    expect(clock.pending).toBe(0);
  });

  it("ends with the caller's reason during a look", async () => {
    const left = new AbortController();
    const reason = { why: "the customer has left" };
    const { partner, settle, clock } = service({
      changes: [badGateway, inProduction],
      orders: [
        () => {
          left.abort(reason);
          return new Promise<Response>(() => undefined);
        },
      ],
    });
    const call = partner.orders.cancel(orderReference, wanted, { signal: left.signal });
    expect(await settle(rejection(call))).toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it("looks at nothing when the only lost response is the last", async () => {
    const { partner, settle, requests } = service({ changes: [badGateway] });
    const options = { retry: { retries: 1 } };
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted, options)));
    expect(error).toMatchObject({ name: "ServerError", status: 502, isRetryable: true });
    expect(requests).toHaveLength(2);
  });

  it("counts a 2xx that is not JSON as lost", async () => {
    const html = () => new Response("<title>Sign in</title>", { headers: { "content-type": "text/html" } });
    const { partner, settle, requests } = service({
      changes: [html, inProduction],
      orders: [showing(lineOf(1, 3, 2))],
    });
    await settle(partner.orders.cancel(orderReference, wanted));
    expect(requests).toHaveLength(3);
  });
});

describe("a cancellation without a lost response", () => {
  it.each([
    ["the first attempt", [inProduction]],
    ["an attempt after a 429", [refusal(429, "rate_limited"), inProduction]],
    ["an attempt after one that was never sent", [refusedConnection, inProduction]],
  ])("is refused without a look: %s", async (_, changes) => {
    const { partner, settle, looks } = service({ changes });
    const error = await settle(rejection(partner.orders.cancel(orderReference, wanted)));
    expect(error).toMatchObject({ code: "already_in_production" });
    expect(looks).toHaveLength(0);
  });
});

describe("orders.cancelRemaining", () => {
  it("returns what was canceled when its cancellation was carried out and a repeated one is refused", async () => {
    const { partner, settle } = service({
      changes: [badGateway, inProduction],
      orders: [showing(lineOf(1, 3, 0, 1)), showing(lineOf(1, 3, 2, 1))],
    });
    const result = await settle(partner.orders.cancelRemaining(orderReference));
    expect(result).toEqual({ canceled: [{ index: 1, canceledQuantity: 2 }] });
  });

  it("cancels the rest when the lost request was not carried out and a line was shipped", async () => {
    const { partner, settle, requests } = service({
      changes: [badGateway, refusal(409, "canceled_quantity_exceeds_shippable"), new Response(null, { status: 204 })],
      orders: [showing(lineOf(1, 3, 0)), showing(lineOf(1, 3, 0, 1))],
    });
    const result = await settle(partner.orders.cancelRemaining(orderReference));
    expect(result).toEqual({ canceled: [{ index: 1, canceledQuantity: 2 }] });
    expect(requests.filter((line) => line.startsWith("POST"))).toHaveLength(3);
  });
});

describe("a replaced address whose response was lost", () => {
  const addressed = (address: object) => Response.json({ address });

  it.each([
    ["as it was sent", sentAddress],
    ["without its empty fields", Object.fromEntries(Object.entries(sentAddress).filter(([, value]) => value !== ""))],
    ["with spaces around a field, and a new field", { ...sentAddress, city: " Amsterdam ", verified: true }],
  ])("succeeds when the order has the address %s", async (_, address) => {
    const { partner, settle, requests } = service({
      changes: [badGateway, completed],
      orders: [showing(lineOf(1, 1, 0, 1))],
      addresses: [addressed(address)],
    });
    await settle(partner.orders.replaceDropshipAddress(orderReference, sentAddress));
    expect(requests.slice(2)).toEqual(["GET /orders/R", `GET /addresses/${ref("Address", "2")}`]);
  });

  it("is unknown when the order has another address, which may be the old one or a newer one", async () => {
    const { partner, settle, looks } = service({
      changes: [badGateway, completed],
      orders: [showing(lineOf(1, 1, 0, 1))],
      addresses: [addressed({ ...sentAddress, housenumber: "7" })],
    });
    const error = await settle(rejection(partner.orders.replaceDropshipAddress(orderReference, sentAddress)));
    expect(error).toMatchObject({
      name: "OutcomeUnknownError",
      identifiers: { orderReference },
      cause: { code: "order_completed" },
    });
    expect(JSON.stringify(error)).not.toContain(sentAddress.streetname);
    expect((looks.at(-1) ?? 0) - (looks[0] ?? 0)).toBeGreaterThan(3_000);
  });

  it("reads the order again when its address stopped resolving in between", async () => {
    const { partner, settle, looks } = service({
      changes: [badGateway, completed],
      orders: [showing(lineOf(1, 1, 0, 1))],
      addresses: [refusal(404, "not_found"), addressed(sentAddress)],
    });
    await settle(partner.orders.replaceDropshipAddress(orderReference, sentAddress));
    expect(looks).toHaveLength(2);
  });

  it.each(["order_not_dropship", "replacement_address_locked"])(
    "is refused with %s, which holds for each attempt",
    async (code) => {
      const { partner, settle, looks } = service({
        changes: [badGateway, refusal(409, code)],
        orders: [Response.json({ order: { ...orderWith(lineOf(1, 1, 0)), dropshipAddressReference: null } })],
      });
      const error = await settle(rejection(partner.orders.replaceDropshipAddress(orderReference, sentAddress)));
      expect(error).toMatchObject({ name: "ConflictError", code });
      expect(looks).toHaveLength(1);
    },
  );
});

describe("a retraction whose response was lost", () => {
  const claimReference = ref("Claim");
  const claim = (status: string) =>
    Response.json({
      claim: {
        reference: claimReference,
        orderReference,
        shipmentReference: ref("Shipment"),
        status,
        comment: null,
        createdBy: "user-1",
        created: "2026-11-02T08:00:00Z",
        retracted: status === "retracted" ? "2026-11-02T09:00:00Z" : null,
        decision: null,
        evidenceUrls: [],
        claimlines: [],
      },
    });

  it("succeeds when a repeated one is refused, and the claim is retracted by then", async () => {
    const pending = Array<Response>(4).fill(claim("pending"));
    const { partner, settle } = service({
      changes: [badGateway, refusal(409, "claim_not_pending")],
      orders: [...pending, claim("retracted")],
    });
    const { data, response } = await settle(partner.claims.retract(claimReference).withResponse());
    expect([data, response.status]).toEqual([undefined, 200]);
  });

  it("is unknown, and may be repeated, when it is refused and the claim is still pending", async () => {
    const { partner, settle } = service({
      changes: [badGateway, refusal(409, "claim_not_pending")],
      orders: [claim("pending")],
    });
    expect(await settle(rejection(partner.claims.retract(claimReference)))).toMatchObject({
      name: "OutcomeUnknownError",
      isRetryable: true,
      identifiers: { claimReference },
      hint: `Read \`claims.get("${claimReference}")\`: the claim is retracted if its status is \`retracted\`.`,
    });
  });

  it.each(["resolved", "rejected"])("is refused when the claim was decided: %s", async (status) => {
    const { partner, settle } = service({
      changes: [badGateway, refusal(409, "claim_not_pending")],
      orders: [claim("pending"), claim("pending"), claim("pending"), claim("pending"), claim(status)],
    });
    const error = await settle(rejection(partner.claims.retract(claimReference)));
    expect(error).toMatchObject({ name: "ConflictError", code: "claim_not_pending" });
  });
});

describe("a change that a killed process has made, with a storage", () => {
  const changes: Readonly<Record<string, (partner: PodPartner) => Promise<unknown>>> = {
    "orders.cancel": ({ orders }) => orders.cancel(orderReference, wanted),
    "orders.replaceDropshipAddress": ({ orders }) => orders.replaceDropshipAddress(orderReference, sentAddress),
  };
  const withStorage = (code: string, order: Answer, address: object = sentAddress) =>
    service(
      { changes: [refusal(409, code)], orders: [order], addresses: [Response.json({ address })] },
      { storage: memoryStorage({ organization: "shop" }) },
    );

  it.each([
    ["orders.cancel", "already_in_production"],
    ["orders.cancel", "order_completed"],
    ["orders.replaceDropshipAddress", "order_completed"],
  ])("is no refusal when another process repeats it: %s, %s", async (name, code) => {
    const { partner, settle, looks } = withStorage(code, showing(lineOf(1, 3, 2, 1)));
    await settle(changes[name]?.(partner) ?? expect.fail());
    expect(looks).toHaveLength(1);
  });

  it.each([
    ["nothing was canceled", "orders.cancel", showing(lineOf(1, 3, 0)), sentAddress],
    ["another client has canceled more", "orders.cancel", showing(lineOf(1, 3, 3)), sentAddress],
    ["the order cannot be read", "orders.cancel", badGateway, sentAddress],
    [
      "it has another address",
      "orders.replaceDropshipAddress",
      showing(lineOf(1, 1, 0)),
      { ...sentAddress, city: "Elsewhere" },
    ],
  ])("is refused when %s", async (_, name, order, address) => {
    const { partner, settle, looks } = withStorage("order_completed", order, address);
    const error = await settle(rejection(changes[name]?.(partner) ?? expect.fail()));
    expect(error).toMatchObject({ name: "ConflictError", code: "order_completed" });
    expect(looks).toHaveLength(1);
  });

  it("is refused without a look when the reason is what was asked for", async () => {
    const { partner, settle, looks } = withStorage("replacement_address_locked", showing(lineOf(1, 1, 0)));
    const error = await settle(rejection(partner.orders.replaceDropshipAddress(orderReference, sentAddress)));
    expect(error).toMatchObject({ name: "ConflictError", code: "replacement_address_locked" });
    expect(looks).toHaveLength(0);
  });
});
