import * as sdk from "pod-partner";
import { describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";

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

/** Every status of specification 7, with the class that stands for it and whether trying again makes sense. */
const statuses = [
  [400, "BadRequestError", false],
  [401, "AuthenticationError", false],
  [403, "PermissionDeniedError", false],
  [404, "NotFoundError", false],
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

describe("an error answer (specification 2.2, 7)", () => {
  const context = useService();
  const get = () => context.partner.orders.get(ref("Order"));
  async function apiError(call: PromiseLike<unknown> = get()): Promise<sdk.ApiError> {
    const error = await rejection(call);
    if (!sdk.ApiError.isInstance(error)) throw error;
    return error;
  }

  it.each(statuses)("with status %i is a %s", async (status, name, isRetryable) => {
    context.service.answers({ status, body: { code: "some_code", message: "Some words." } });
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

  it.each(statuses)("with status %i is of no other class", async (status, name) => {
    context.service.answers({ status, body: { code: "some_code", message: "Some words." } });
    const error = await apiError();
    for (const [other, type] of Object.entries(classes)) {
      expect(type.isInstance(error), other).toBe(other === name || other === "ApiError");
    }
  });

  it.each(codes)("with the code %s passes it on and says what to do", async (code) => {
    context.service.answers({ status: 409, body: { code, message: "Some words." } });
    const error = await apiError();
    expect(error.code).toBe(code);
    expect(error.hint?.length).toBeGreaterThan(10);
    expect(error.message).toContain(code);
  });

  it.each(["a_code_of_tomorrow", "constructor", "__proto__", "toString"])(
    "with the unknown code %s passes it on",
    async (code) => {
      context.service.answers({ status: 409, body: { code, message: "Some words." } });
      const error = await apiError();
      expect(error).toMatchObject({ name: "ConflictError", code });
      expect(error.hint).toBeUndefined();
    },
  );

  it("429 rate_limited tells how long the service asks to wait", async () => {
    context.service.answers({
      status: 429,
      headers: { "retry-after": "17" },
      body: { code: "rate_limited", message: "Slow down." },
    });
    expect(await apiError()).toMatchObject({ name: "RateLimitError", retryAfter: 17_000, isRetryable: true });
  });

  it("429 rendertoken_limit_exceeded is a limit of its own, and not to be tried again", async () => {
    context.service.answers({
      status: 429,
      headers: { "retry-after": "3600" },
      body: { code: "rendertoken_limit_exceeded", message: "No tokens." },
    });
    const error = await apiError();
    expect(error).toMatchObject({ name: "RendertokenLimitError", isRetryable: false, retryAfter: 3_600_000 });
    expect(sdk.RateLimitError.isInstance(error)).toBe(true);
    expect(context.service.requests).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])("%i is a RedirectError and is not followed", async (status) => {
    context.service.answers({ status, headers: { location: `${context.service.baseUrl}/orders` } });
    expect(await apiError()).toMatchObject({ name: "RedirectError", status, isRetryable: false });
    expect(context.service.requests).toHaveLength(1);
  });

  it.each([302, 307])("%i is a RedirectError for an upload too", async (status) => {
    context.service.answers({ status, headers: { location: `${context.service.baseUrl}/images` } });
    expect(await apiError(context.partner.images.upload(jpeg))).toMatchObject({ name: "RedirectError", status });
    expect(context.service.requests).toHaveLength(1);
  });

  it.each([
    ["HTML", "<html>Bad gateway</html>"],
    ["nothing", undefined],
    ["broken JSON", '{"code": "rate_'],
    ["a list", []],
    ["null", "null"],
    ["an object of something else", { error: "boom" }],
    ["a code and a message that are no strings", { code: 5, message: {} }],
  ])("with %s for a body is told by its status alone", async (_, body) => {
    context.service.answers({ status: 502, body });
    const error = await apiError();
    expect(error).toMatchObject({ name: "ServerError", status: 502, code: undefined });
    expect(error.message).toContain("502");
  });

  it("tells what was tried, how it ended, and where in the caller's code it began", async () => {
    context.service.answers({ status: 404, body: { code: "order_not_found", message: "No." } });
    const error = await apiError();
    expect(error.timeline).toHaveLength(1);
    expect(error.timeline[0]).toMatchObject({ step: "attempt", outcome: "404" });
    expect(error.stack).toContain("errors.test.ts");
  });

  it("can be written as JSON", async () => {
    context.service.answers({ status: 403, body: { code: "store_not_writable_via_api", message: "Not yours." } });
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

  it("is recognised by another copy of the package", async () => {
    context.service.answers({ status: 400, body: { code: "unknown_input_error", message: "No." } });
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

describe("an error of which it is unknown whether the creation was carried out", () => {
  const context = useService();

  it("carries what is needed to find out into JSON", async () => {
    context.service.always(() => Promise.reject(new Error("the stub hangs up")));
    const error = await rejection(context.partner.orders.create(combinedOrder));
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name: "OutcomeUnknownError",
      endpoint: "POST /orders",
      isRetryable: false,
      identifiers: { customIdentifier: combinedOrder.customIdentifier },
    });
  });
});
