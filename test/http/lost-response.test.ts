import { BadRequestError, memoryStorage, OutcomeUnknownError, PodPartner, ResponseValidationError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { fetchFailed } from "../support/fetch-failed.ts";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { settle } from "../support/settle.ts";

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};
const claim = { shipmentReference: ref("Shipment"), evidenceReferences: [] };

const reset = () => {
  throw fetchFailed("ECONNRESET", "read");
};
const notFound = () => Response.json({ code: "not_found", message: "no such order" }, { status: 404 });
const noClaims = () => Response.json({ claims: [], nextCursor: null });
const down = () => Response.json({ code: "down", message: "later" }, { status: 503 });

/** A service that has nothing, and responds to the creations in turn. */
function service(...creations: readonly (() => Response | Promise<Response>)[]) {
  const clock = createManualClock();
  const requests: string[] = [];
  const sentAt: number[] = [];
  const fetch = async ({ method, url }: Request): Promise<Response> => {
    const { pathname } = new URL(url);
    requests.push(`${method} ${pathname.replace("/v2", "")}`);
    if (method === "GET") return pathname.endsWith("/claims") ? noClaims() : notFound();
    sentAt.push(clock.now());
    const respond = creations[sentAt.length - 1] ?? expect.fail("sent once more");
    return respond();
  };
  const partner = partnerWith({ fetch, clock });
  return { clock, requests, sentAt, partner, settle: <T>(call: PromiseLike<T>) => settle(clock, call, 50) };
}

describe("a creation whose response was lost", () => {
  const created = () => Response.json({ order: { reference: ref("Order") } }, { status: 201 });

  it.each([
    ["at once, is looked up for four seconds", 249, 4_000, 8_000],
    ["after a quarter of a second, is looked up for as long as the service may work", 250, 30_000, 90_000],
  ])("%s", async (_, ms, least, most) => {
    const { clock, sentAt, partner, settle } = service(
      () => new Promise<void>((resolve) => clock.after(ms, resolve)).then(reset),
      created,
    );
    await settle(partner.orders.create(order));
    const searched = (sentAt[1] ?? 0) - (sentAt[0] ?? 0);
    expect(searched).toBeGreaterThan(least);
    expect(searched).toBeLessThan(most);
  });

  it.each([
    ["a 500", () => new Response("<h1>Error</h1>", { status: 500 })],
    ["the service's own error", () => Response.json({ code: "storage_down", message: "later" }, { status: 502 })],
  ])("is looked up for four seconds after %s that came late: the service has finished", async (_, respond) => {
    const { clock, sentAt, partner, settle } = service(
      () => new Promise<void>((resolve) => clock.after(1_000, resolve)).then(respond),
      created,
    );
    await settle(partner.orders.create(order));
    const searched = (sentAt[1] ?? 0) - (sentAt[0] ?? 0) - 1_000;
    expect(searched).toBeGreaterThanOrEqual(4_000);
    expect(searched).toBeLessThan(8_000);
  });

  it("is unknown when the retry has an odd response, which says nothing about the first attempt", async () => {
    const { partner, settle, sentAt, requests } = service(down, () => Response.json({}, { status: 201 }));
    const error = await settle(rejection(partner.orders.create(order)));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" } });
    expect(error).toHaveProperty("cause.name", "ResponseValidationError");
    expect(sentAt).toHaveLength(2);
    expect(requests.at(-1)).toBe("POST /orders");
  });

  it.each([
    [401, { code: "refused", message: "no" }],
    [403, { code: "refused", message: "no" }],
    [409, { code: "refused", message: "no" }],
    // They may mean that it already exists.
    [400, { code: "custom_identifier_not_unique", message: "no" }],
    [410, { code: "custom_identifier_not_unique", message: "no" }],
    [422, { code: "custom_identifier_not_unique", message: "no" }],
    // A gateway's.
    [404, {}],
    [413, {}],
  ])(
    "is unknown when the retry is refused with %d %j, which says nothing about the first attempt",
    async (status, body) => {
      const { partner, settle } = service(down, () => Response.json(body, { status }));
      const error = await settle(rejection(partner.orders.create(order)));
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" }, cause: { status } });
    },
  );

  it("is unknown when every response is lost, after as many attempts as the options allow", async () => {
    const { partner, settle, sentAt } = service(down, down, down, down);
    const error = await settle(rejection(partner.orders.create(order, { retry: { retries: 3 } })));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(sentAt).toHaveLength(4);
  });

  it("has its odd response as the error when it was sent once", async () => {
    const { partner, settle } = service(() => Response.json({}, { status: 201 }));
    expect(await settle(rejection(partner.orders.create(order)))).toBeInstanceOf(ResponseValidationError);
  });

  it.each([
    ...["missing_address", "missing_image_reference", "invalid_address_missing_email"],
    ...["invalid_address_denied_country", "product_not_orderable", "store_not_writable_via_api"],
    ...["order_not_in_shipment", "orderline_not_in_shipment", "package_missing_category_not_allowed"],
    ...["evidence_required", "shipment_too_recent"],
  ])("is refused when the retry is refused for its content: %s", async (code) => {
    const { partner, settle } = service(down, () => Response.json({ code, message: "no" }, { status: 400 }));
    const isOfOrder = /address|image|product|store/.test(code);
    const call = isOfOrder ? partner.orders.create(order) : partner.claims.createPackageMissing(claim);
    expect(await settle(rejection(call))).toMatchObject({ name: "BadRequestError", code });
  });
});

describe("a creation that is aborted in `onRequest`", () => {
  it("was not sent, and leaves no doubt: the next call looks it up once", async () => {
    const clock = createManualClock();
    const requests: string[] = [];
    const left = new AbortController();
    const partner = partnerWith({
      clock,
      hooks: { onRequest: () => left.abort() },
      fetch: async ({ method }: Request) => {
        requests.push(method);
        return method === "GET" ? notFound() : Response.json({ order: { reference: ref("Order") } }, { status: 201 });
      },
    });
    const error = await settle(clock, rejection(partner.orders.create(order, { signal: left.signal })), 50);
    expect(error).toHaveProperty("name", "AbortError");
    expect(requests).toEqual([]);
    await settle(clock, partner.orders.ensure(order), 50);
    expect(requests).toEqual(["GET", "POST"]);
  });
});

describe("the end of a creation whose response was lost", () => {
  const html = () => new Response("<h1>Welcome</h1>", { headers: { "content-type": "text/html" } });
  const created = () => Response.json({ order: { reference: ref("Order") } }, { status: 201 });
  const posts = (requests: readonly string[]) => requests.filter((request) => request.startsWith("POST"));

  it("is unknown, and it is not sent again, when `Retry-After` is longer than `retry.maxRetryAfter`", async () => {
    const later = () =>
      Response.json({ code: "down", message: "later" }, { status: 503, headers: { "retry-after": "11" } });
    const { partner, settle, requests } = service(later);
    const call = partner.orders.create(order, { retry: { maxRetryAfter: 10_000 } });
    expect(await settle(rejection(call))).toMatchObject({
      name: "OutcomeUnknownError",
      cause: { name: "ServerError", retryAfter: 11_000 },
    });
    expect(posts(requests)).toHaveLength(1);
    expect(requests.length).toBeGreaterThan(1);
  });

  it("is a retry when `Retry-After` is as long as `retry.maxRetryAfter`", async () => {
    const later = () => new Response("later", { status: 503, headers: { "retry-after": "10" } });
    const { partner, settle, requests } = service(later, created);
    await settle(partner.orders.create(order, { retry: { maxRetryAfter: 10_000 } }));
    expect(posts(requests)).toHaveLength(2);
  });

  it("is a retry after a 2xx that is not JSON, when look-ups find nothing", async () => {
    const { partner, settle, requests } = service(html, created);
    expect(await settle(partner.orders.create(order))).toMatchObject({ recovered: false });
    expect(posts(requests)).toHaveLength(2);
  });

  it("is unknown after a 2xx that is not JSON, without a retry", async () => {
    const { partner, settle, requests } = service(html);
    const error = await settle(rejection(partner.orders.create(order, { retry: false })));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "ResponseValidationError" } });
    expect(requests.length).toBeGreaterThan(1);
  });

  it("looks up nothing after a last attempt that the rate limit refused", async () => {
    const limited = () => Response.json({ code: "rate_limited", message: "slow" }, { status: 429 });
    const { partner, settle, requests } = service(down, limited);
    const error = await settle(rejection(partner.orders.create(order, { retry: { retries: 1 } })));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "RateLimitError" } });
    expect(requests.at(-1)).toBe("POST /orders");
  });

  it("is unknown at the first look-up that is refused", async () => {
    const clock = createManualClock();
    const requests: string[] = [];
    const fetch = async ({ method }: Request) => {
      requests.push(method);
      return method === "POST" ? down() : Response.json({ code: "forbidden", message: "no" }, { status: 403 });
    };
    const partner = partnerWith({ fetch, clock });
    const error = await settle(clock, rejection(partner.orders.create(order)), 50);
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "PermissionDeniedError" } });
    expect(requests).toEqual(["POST", "GET"]);
  });

  it.each([
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "/maintenance" } })],
    ["a page", () => new Response("<h1>Maintenance</h1>", { headers: { "content-type": "text/html" } })],
  ])("is found after look-ups that a gateway answers with %s", async (_, respond) => {
    const clock = createManualClock();
    const requests: string[] = [];
    const fetch = async ({ method }: Request) => {
      requests.push(method);
      if (method === "POST") return down();
      return requests.length < 4 ? respond() : Response.json({ order: { reference: ref("Order", "7") } });
    };
    const partner = partnerWith({ fetch, clock });
    const found = await settle(clock, partner.orders.create(order), 50);
    expect(found).toMatchObject({ reference: ref("Order", "7") });
    expect(requests).toEqual(["POST", "GET", "GET", "GET"]);
  });

  it("is looked up after waits that double up to eight seconds, until the service must have finished", async () => {
    const clock = createManualClock();
    const looks: number[] = [];
    let began = 0;
    const fetch = async ({ method }: Request) => {
      if (method === "POST") {
        began = clock.now();
        return new Promise<void>((resolve) => clock.after(250, resolve)).then(reset);
      }
      looks.push(clock.now() - began);
      return notFound();
    };
    const partner = partnerWith({ fetch, clock });
    const error = await settle(clock, rejection(partner.orders.create(order, { retry: false })), 50);
    expect(error).toMatchObject({ name: "OutcomeUnknownError" });
    const seconds = looks.map((ms) => Math.round(ms / 100) / 10);
    expect(seconds).toEqual([0.3, 0.8, 2.3, 4.3, 8.3, 16.3, 24.3, 30]);
  });

  it("has the deadline as its cause when the deadline ends the look-ups", async () => {
    const { partner, settle } = service(() => reset());
    const error = await settle(rejection(partner.orders.create(order, { deadline: 3_000 })));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "DeadlineError" } });
    expect(error).toHaveProperty("cause.message", expect.stringContaining("it was not found"));
  });
});

describe("a POST of `partner.request`, which no look-up can find", () => {
  it("has an unknown outcome at its deadline, which a repeated call could make twice", async () => {
    const { partner, settle, requests } = service(() => new Promise<Response>(() => undefined));
    const error = await settle(rejection(partner.request("POST", "/orders", { deadline: 1_000 })));
    expect(error).toMatchObject({
      name: "OutcomeUnknownError",
      isRetryable: false,
      identifiers: {},
      hint: "The SDK cannot look it up: check whether it exists before you send it again.",
    });
    expect(requests).toEqual(["POST /orders"]);
  });

  it("has an unknown outcome after a lost response, and is not sent again", async () => {
    const { partner, settle, requests } = service(() => reset());
    const error = await settle(rejection(partner.request("POST", "/orders")));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { name: "ConnectionError" } });
    expect(requests).toEqual(["POST /orders"]);
  });

  it("is sent again after a 429", async () => {
    const limited = () => Response.json({ code: "rate_limited", message: "slow" }, { status: 429 });
    const { partner, settle, requests } = service(limited, () => Response.json({ done: true }));
    expect(await settle(partner.request("POST", "/orders"))).toEqual({ done: true });
    expect(requests).toHaveLength(2);
  });

  it("is an error when the caller's own schema refuses the response, which is not sent again", async () => {
    const schema = {
      "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no" }] }) },
    } as const;
    const partner = partnerWith({ fetch: async () => Response.json({ done: true }) });
    const error = await rejection(partner.request("POST", "/orders", { schema }));
    expect(error).toBeInstanceOf(ResponseValidationError);
  });

  it("has the odd response as its error", async () => {
    const { partner, settle } = service(() => new Response("<h1>Welcome</h1>", { status: 200 }));
    expect(await settle(rejection(partner.request("POST", "/orders")))).toBeInstanceOf(ResponseValidationError);
  });

  it("is not sent again after a 400", async () => {
    const { partner, settle } = service(() => Response.json({ code: "bad", message: "no" }, { status: 400 }));
    expect(await settle(rejection(partner.request("POST", "/orders")))).toBeInstanceOf(BadRequestError);
  });
});

describe("an unknown outcome", () => {
  const orderReference = ref("Order");
  const line = { orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory") };
  const items = { shipmentReference: ref("Shipment"), orderReference, claimlines: [line] };
  const empty = {
    company: "",
    housenumber: "",
    housenumberAddition: "",
    additionalInfo: "",
    state: "",
    phonenumber: "",
  };
  const named = { firstname: "Ada", lastname: "Jansen", streetname: "Damrak 1", zipcode: "1012 LG", city: "Amsterdam" };
  const address = { ...empty, ...named, countryCode: "NL", email: "ada@example.com" };
  const key = "rma-1";

  // The table of docs/errors.md: a repeated call must make nothing twice.
  it.each<[name: string, isRetryable: boolean, call: (partner: PodPartner) => PromiseLike<unknown>, options?: object]>([
    ["`orders.ensure`", true, ({ orders }) => orders.ensure(order, { compare: false })],
    ["`orders.create`", false, ({ orders }) => orders.create(order)],
    ["a cancellation", true, ({ orders }) => orders.cancel(orderReference, [{ index: 1, canceledQuantity: 1 }])],
    ["a replaced address", true, ({ orders }) => orders.replaceDropshipAddress(orderReference, address)],
    ["a retraction", true, ({ claims }) => claims.retract(ref("Claim"))],
    ["a claim about items", false, ({ claims }) => claims.createItemIssues(items)],
    ["a claim about a package", false, ({ claims }) => claims.createPackageMissing(claim)],
    ["a claim about items with a `key`", true, ({ claims }) => claims.createItemIssues(items, { key })],
    ["a claim about a package with a `key`", true, ({ claims }) => claims.createPackageMissing(claim, { key })],
    [
      'a claim with a `key` and `storageLost: "continue"`',
      false,
      ({ claims }) => claims.createItemIssues(items, { key }),
      { storageLost: "continue" },
    ],
    ["any other POST", false, (partner) => partner.request("POST", "/widgets")],
  ])("of %s may be repeated: %s", async (_, isRetryable, call, options = {}) => {
    const clock = createManualClock();
    let isFirst = true;
    const fetch = async ({ method, url }: Request): Promise<Response> => {
      if (method === "GET" && !url.includes("lookup")) return down();
      if (method === "GET" && isFirst) return notFound();
      if (method === "GET") return down();
      if (isFirst) {
        isFirst = false;
        reset();
      }
      return Response.json({ code: "already_in_production", message: "refused" }, { status: 409 });
    };
    const storage = memoryStorage({ clock, organization: "shop" });
    const config = { baseUrl: "https://partner.example/v2", secretKey: "a-secret-key", fetch, clock, storage };
    const error = await settle(clock, rejection(call(new PodPartner({ ...config, ...options }))), 50);
    expect(error).toMatchObject({ name: "OutcomeUnknownError", isRetryable });
    expect(error).toHaveProperty("hint", expect.stringMatching(/./));
  });
});
