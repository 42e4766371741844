import { inspect } from "node:util";
import * as sdk from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import type { StubResponse } from "../support/stub-service.ts";

const classes = {
  ApiError: sdk.ApiError,
  BadRequestError: sdk.BadRequestError,
  AuthenticationError: sdk.AuthenticationError,
  PermissionDeniedError: sdk.PermissionDeniedError,
  NotFoundError: sdk.NotFoundError,
  ConflictError: sdk.ConflictError,
  GoneError: sdk.GoneError,
  RateLimitError: sdk.RateLimitError,
  NotImplementedError: sdk.NotImplementedError,
  ServerError: sdk.ServerError,
  RedirectError: sdk.RedirectError,
  NotReadyError: sdk.NotReadyError,
  RendertokenLimitError: sdk.RendertokenLimitError,
};

/** Every status of specification 7 and some of gateways, their classes, and whether a retry can help. */
const statuses = [
  [400, "BadRequestError", false],
  [401, "AuthenticationError", false],
  [403, "PermissionDeniedError", false],
  [404, "NotFoundError", false],
  // A gateway's: it stopped waiting for the service.
  [408, "ApiError", true],
  [409, "ConflictError", false],
  [410, "GoneError", false],
  [422, "ApiError", false],
  [429, "RateLimitError", true],
  [500, "ServerError", true],
  [501, "NotImplementedError", false],
  [502, "ServerError", true],
  [503, "ServerError", true],
  [504, "ServerError", true],
] as const;

/** Every code of specification 7. */
const codes = [
  "missing_address",
  "missing_image_reference",
  "invalid_address_missing_email",
  "invalid_address_denied_country",
  "product_not_orderable",
  "store_not_writable_via_api",
  "canceled_quantity_below_current",
  "canceled_quantity_exceeds_shippable",
  "already_in_production",
  "order_completed",
  "order_not_dropship",
  "replacement_address_locked",
  "order_not_in_shipment",
  "orderline_not_in_shipment",
  "package_missing_category_not_allowed",
  "evidence_required",
  "shipment_too_recent",
  "rendertoken_limit_exceeded",
  "rate_limited",
  "unknown_input_error",
] as const;

const endpoint = "GET /orders/{orderReference}";

describe("an error response (specification 2.2, 7)", () => {
  const context = useService();
  const get = () => context.partner.orders.get(ref("Order"));
  async function apiError(call: PromiseLike<unknown> = get()): Promise<sdk.ApiError> {
    const error = await rejection(call);
    if (!sdk.ApiError.isInstance(error)) throw error;
    return error;
  }

  it.each(statuses)("with status %i is a %s", async (status, name, isRetryable) => {
    context.service.respond({ status, body: { code: "some_code", message: "Some words." } });
    const error = await apiError();
    expect(error).toMatchObject({ name, status, code: "some_code", endpoint, isRetryable });
    expect(error).toBeInstanceOf(classes[name]);
    expect(error).toBeInstanceOf(Error);
    expect(classes[name].isInstance(error)).toBe(true);
    expect(sdk.PodPartnerError.isInstance(error)).toBe(true);
    expect(error.message).toContain("Some words.");
    expect(error.message).toContain(endpoint);
    expect(error.message).toContain(String(status));
    expect(error.response).toMatchObject({ status, body: { code: "some_code", message: "Some words." } });
  });

  it.each(statuses)("with status %i is not of another class", async (status, name) => {
    context.service.respond({ status, body: { code: "some_code", message: "Some words." } });
    const error = await apiError();
    for (const [other, type] of Object.entries(classes)) {
      expect(type.isInstance(error), other).toBe(other === name || other === "ApiError");
    }
  });

  it.each(codes)("with the code %s keeps the code and says what to do", async (code) => {
    context.service.respond({ status: 409, body: { code, message: "Some words." } });
    const error = await apiError();
    expect(error.code).toBe(code);
    expect(error.hint?.length).toBeGreaterThan(10);
    expect(error.message).toContain(code);
  });

  it.each(["a_code_of_tomorrow", "constructor", "__proto__", "toString"])(
    "with the unknown code %s keeps the code",
    async (code) => {
      context.service.respond({ status: 409, body: { code, message: "Some words." } });
      const error = await apiError();
      expect(error).toMatchObject({ name: "ConflictError", code });
      expect(error.hint).toBeUndefined();
    },
  );

  it("429 rate_limited has the time that the service asks to wait", async () => {
    context.service.respond({
      status: 429,
      headers: { "retry-after": "17" },
      body: { code: "rate_limited", message: "Slow down." },
    });
    expect(await apiError()).toMatchObject({ name: "RateLimitError", retryAfter: 17_000, isRetryable: true });
  });

  it("429 rendertoken_limit_exceeded has its own class and is not retryable", async () => {
    context.service.respond({
      status: 429,
      headers: { "retry-after": "3600" },
      body: { code: "rendertoken_limit_exceeded", message: "No tokens." },
    });
    const error = await apiError();
    expect(error).toMatchObject({ name: "RendertokenLimitError", isRetryable: false, retryAfter: 3_600_000 });
    expect(sdk.RateLimitError.isInstance(error)).toBe(true);
    expect(context.service.requests).toHaveLength(1);
  });

  it.each<[code: string, status: number, retryAfter: object, resetsAt: string | undefined]>([
    ["rendertoken_limit_exceeded", 429, { "retry-after": "86400" }, "2026-11-03T09:00:00.000Z"],
    ["rendertoken_limit_exceeded", 429, {}, undefined],
    ["rendertoken_limit_exceeded", 409, { "retry-after": "86400" }, undefined],
    ["rate_limited", 429, { "retry-after": "86400" }, undefined],
  ])("%s with status %i and %j says when the tokens reset: %s", async (code, status, retryAfter, resetsAt) => {
    const clock = createManualClock("2026-11-02T09:00:00Z");
    context.service.respond({ status, headers: { ...retryAfter }, body: { code, message: "No." } });
    const partner = new sdk.PodPartner({ baseUrl: context.service.baseUrl, secretKey, clock, retry: false });
    const error = await apiError(partner.renders.get(ref("Render")));
    expect(Reflect.get(error, "resetsAt")).toBe(resetsAt);
    expect(sdk.RendertokenLimitError.isInstance(error)).toBe(status === 429 && code !== "rate_limited");
  });

  it.each([300, 301, 302, 303, 307, 308])(
    "%i is a RedirectError, and the client does not follow it",
    async (status) => {
      context.service.respond({ status, headers: { location: `${context.service.baseUrl}/orders` } });
      expect(await apiError()).toMatchObject({ name: "RedirectError", status, isRetryable: false });
      expect(context.service.requests).toHaveLength(1);
    },
  );

  it.each([302, 307])("%i is a RedirectError for an upload", async (status) => {
    context.service.respond({ status, headers: { location: `${context.service.baseUrl}/images` } });
    expect(await apiError(context.partner.images.upload(jpeg))).toMatchObject({ name: "RedirectError", status });
    expect(context.service.requests).toHaveLength(1);
  });

  it.each([
    ["HTML", "<html>Bad gateway</html>"],
    ["nothing", undefined],
    ["broken JSON", '{"code": "rate_'],
    ["a list", []],
    ["null", "null"],
    ["an object with other fields", { error: "boom" }],
    ["a code and a message that are not strings", { code: 5, message: {} }],
  ])("with %s as its body is described by its status only", async (_, body) => {
    context.service.respond({ status: 502, body });
    const error = await apiError();
    expect(error).toMatchObject({ name: "ServerError", status: 502, code: undefined });
    expect(error.message).toContain("502");
  });

  const elsewhere = "https://elsewhere.example";
  const noRedirect = "which the SDK does not follow";
  it.each<[what: string, response: StubResponse, message: string]>([
    [
      "the origin of a redirect, and no other part of it",
      { status: 302, headers: { location: `${elsewhere}/a?b` } },
      `a redirect to ${elsewhere}, ${noRedirect}`,
    ],
    [
      "a redirect with a relative target",
      { status: 300, headers: { location: "/a" } },
      `a redirect to {origin}, ${noRedirect}`,
    ],
    ["a redirect without a target", { status: 399 }, `a redirect, ${noRedirect}`],
    ["a redirect with an invalid target", { status: 301, headers: { location: "//" } }, `a redirect, ${noRedirect}`],
    [
      "a proxy without credentials",
      { status: 407 },
      "a proxy between this process and the service requires credentials. Set them in the `fetch` that uses the proxy, or in the option `proxy` of nodeTransport",
    ],
    [
      "the beginning of a text",
      { status: 400, body: "x".repeat(300) },
      `the response has no error object, but text: ${"x".repeat(200)}`,
    ],
    ["JSON that is no error object", { status: 400, body: [] }, "the response has no error object"],
    ["an error object in a field", { status: 400, body: { error: { message: "Some words." } } }, "Some words."],
    ["the words of a redirect", { status: 302, body: { message: "Some words." } }, "Some words."],
    ["no words that are empty", { status: 404, body: { message: "" } }, "the response has no error object"],
  ])("is described by %s", async (_, response, message) => {
    context.service.respond(response);
    const error = await apiError();
    // A hint can follow in a second line.
    const [words] = error.message.split("\n");
    expect(words).toBe(
      `${endpoint} returned ${response.status}: ${message.replace("{origin}", context.service.origin)}`,
    );
  });

  it("202 for a file says that it is not ready", async () => {
    context.service.respond({ status: 202 });
    const error = await apiError(context.partner.renders.media(ref("Render")));
    expect(error.message).toContain("GET /renders/{renderReference}/media returned 202: the file is not ready yet");
  });

  it("has the whole body of the response", async () => {
    const body = { code: "some_code", message: "Some words.", lines: [{ index: 0, sizes: [1, null, true] }, "x", []] };
    context.service.respond({ status: 409, body });
    expect((await apiError()).response.body).toStrictEqual(body);
  });

  it("has a body of a response without what is nested deeper than 100 levels", async () => {
    const nested = (levels: number, inner: string) =>
      `${'[{"a":'.repeat(levels / 2)}${inner}${"}]".repeat(levels / 2)}`;
    context.service.respond({ status: 409, body: nested(2_000, "[]") });
    expect(JSON.stringify((await apiError()).response.body)).toBe(nested(100, '"[nested deeper]"'));
  });

  it("describes the attempts, their outcomes and the caller's stack", async () => {
    context.service.respond({ status: 404, body: { code: "order_not_found", message: "No." } });
    const error = await apiError();
    expect(error.timeline).toHaveLength(1);
    expect(error.timeline[0]).toMatchObject({ step: "attempt", outcome: "404" });
    expect(error.stack).toContain("errors.test.ts");
  });

  it("can be serialized as JSON", async () => {
    context.service.respond({ status: 403, body: { code: "store_not_writable_via_api", message: "Not yours." } });
    const error = await apiError();
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name: "PermissionDeniedError",
      message: error.message,
      endpoint,
      status: 403,
      code: "store_not_writable_via_api",
      hint: error.hint,
      isRetryable: false,
      timeline: [{ step: "attempt", outcome: "403" }],
      response: { status: 403, body: { code: "store_not_writable_via_api", message: "Not yours." } },
    });
  });

  it.each([
    ["text", 502, "x".repeat(5_000), "x".repeat(3_999)],
    ["JSON", 400, { list: Array.from({ length: 3_000 }, (_, n) => n) }, '{"list":[0,1,2,'],
  ])("has in its JSON only the beginning of a large body of %s", async (_, status, body, beginning) => {
    context.service.respondAlways({ status, body });
    const error = await apiError();
    expect(error.response.body).toEqual(body);
    const shown = JSON.parse(JSON.stringify(error)).response.body;
    expect([shown.length, shown.startsWith(beginning), shown.endsWith("…")]).toEqual([4_000, true, true]);
  });

  it("is recognized by another copy of the package", async () => {
    context.service.respond({ status: 400, body: { code: "unknown_input_error", message: "No." } });
    const error = await apiError();
    vi.resetModules();
    const copy: typeof sdk = await import("pod-partner");
    expect(copy.BadRequestError).not.toBe(sdk.BadRequestError);
    expect(error instanceof copy.BadRequestError).toBe(false);
    expect(copy.BadRequestError.isInstance(error)).toBe(true);
    expect(copy.ApiError.isInstance(error)).toBe(true);
    expect(copy.ConflictError.isInstance(error)).toBe(false);
  });

  it.each([[undefined], [null], ["BadRequestError"], [new Error("x")], [{ name: "BadRequestError", status: 400 }]])(
    "is not %o",
    (value) => {
      expect(sdk.PodPartnerError.isInstance(value)).toBe(false);
      expect(sdk.BadRequestError.isInstance(value)).toBe(false);
    },
  );
});

describe("an error after which it is unknown whether the creation was carried out", () => {
  const context = useService();

  it("includes in its JSON what is needed to find out", async () => {
    context.service.respondAlways(() => Promise.reject(new Error("the stub hangs up")));
    const error = await rejection(context.partner.orders.create(combinedOrder));
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name: "OutcomeUnknownError",
      endpoint: "POST /orders",
      isRetryable: false,
      identifiers: { customIdentifier: combinedOrder.customIdentifier },
    });
  });
});

describe("a printed error", () => {
  const context = useService();

  it("says each thing once, and nothing that is not there", async () => {
    const body = { code: "order_completed", message: "It was shipped." };
    context.service.respond({ status: 409, body });
    const lines = [{ index: 1, canceledQuantity: 2 }];
    const text = inspect(await rejection(context.partner.orders.cancel(ref("Order"), lines)));
    for (const once of ["so it can no longer be changed", "ConflictError:", "status: 409,\n  code"])
      expect(text.split(once)).toHaveLength(2);
    expect(text).not.toContain("undefined");
    expect(text).toContain("isRetryable: false");
  });

  it("has its cause", async () => {
    context.service.respondAlways(() => Promise.reject(new Error("the stub hangs up")));
    const text = inspect(await rejection(context.partner.orders.get(ref("Order"), { retry: { retries: 0 } })));
    expect(text).toMatch(/^ConnectionError: No response from GET .*cause: .*fetch failed/s);
  });
});
