import { inspect } from "node:util";
import * as sdk from "pod-partner";
import { ApiError, ConnectionError, PodPartner, type PodPartnerError, ResponseValidationError } from "pod-partner";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const page = {
  headers: { "content-type": "text/html; charset=utf-8" },
  body: "<!doctype html><html><body>Bad Gateway</body></html>",
};

describe("an error message says what to do next", () => {
  const context = useService();

  it.each([
    ["a wrong key", { status: 401, body: { code: "unauthorized", message: "No." } }, "Check `secretKey`"],
    ["a failure of the service", { status: 503, body: { code: "down", message: "No." } }, "Retry later"],
    ["a file that is not ready", { status: 202, headers: { "retry-after": "5" } }, "Pass `{ wait: true }`"],
    ["a redirect", { status: 302, headers: { location: "https://other.example/" } }, "Set `baseUrl`"],
    ["a known code", { status: 409, body: { code: "order_completed", message: "No." } }, "can no longer be changed"],
    ["an HTML page", { status: 404, ...page }, "The response is an HTML page"],
    ["an HTML page of a gateway", { status: 502, ...page }, "HTML page"],
    ["an HTML page of a gateway, for later", { status: 502, ...page }, "Retry later"],
  ])("for %s", async (_, response, words) => {
    context.service.respond(response);
    const error = await rejection(context.partner.renders.media(ref("Render"), { retry: { retries: 0 } }));
    if (!(error instanceof ApiError)) throw error;
    expect(error.message).toContain(words);
    expect(error.message).toContain(`\n  ${error.hint}`);
  });

  it("for an HTML page in place of the data", async () => {
    context.service.respond({ status: 200, ...page });
    const error = await rejection(context.partner.organization.get());
    if (!(error instanceof ResponseValidationError)) throw error;
    expect(error.hint).toContain("The response is an HTML page");
    expect(error.hint).not.toContain("responses:");
    expect(error.message).toContain(`\n  ${error.hint}`);
  });

  it("for data of an unknown form", async () => {
    context.service.respond({ body: { organization: 1 } });
    const error = await rejection(context.partner.organization.get());
    if (!(error instanceof ResponseValidationError)) throw error;
    expect(error.hint).toContain("`partner.request`");
    expect(error.message).toContain(`\n  ${error.hint}`);
  });

  it("but has no hint for other errors: a 404 with an error object", async () => {
    context.service.respond({ status: 404, body: { code: "render_not_found", message: "No." } });
    const error = await rejection(context.partner.renders.media(ref("Render"), { retry: { retries: 0 } }));
    expect(error).toMatchObject({ name: "NotFoundError", hint: undefined });
  });
});

describe("a printed error shows its hint once", () => {
  const details = { endpoint: "GET /x", cause: new Error("cause") };
  const order = { reference: "Order_1", orderlines: [] };
  const difference = { path: ["dropshipAddress"], existing: undefined, requested: undefined };
  const mismatch = { customIdentifier: "shop-1", existing: order, requested: [], differences: [difference] };
  const errors: readonly PodPartnerError[] = [
    new sdk.AlreadyReadError({ ...details, what: "download", use: "read" }),
    new sdk.ConnectionError({ ...details, reason: "bad port", sent: false }),
    new sdk.CursorLoopError(details),
    new sdk.DamagedStorageError({ path: "partner.db", cause: new Error("malformed") }),
    new sdk.DeadlineError({ message: "Too late." }),
    new sdk.FileError({ path: "a.png", cause: Object.assign(new Error("full"), { code: "ENOSPC" }) }),
    new sdk.OrderMismatchError(mismatch),
    new sdk.OutcomeUnknownError({ ...details, how: "Look it up.", identifiers: {}, isRetryable: false }),
    new sdk.RenderFailedError({ reference: "Render_1" }),
    new sdk.RequestTimeoutError(details),
    new sdk.ResponseTooLargeError({ ...details, limit: 1, status: 200 }),
    new sdk.StorageError({ message: "Lost." }),
    new sdk.TokenBudgetError({ cost: 2, remaining: 1, resetsAt: undefined }),
    new sdk.UnexpectedError({ reason: "odd", cause: new Error("odd") }),
    new sdk.WaitTimeoutError({ reference: "Render_1", waited: 5 }),
  ];

  it.each(errors.map((error) => [error.name, error] as const))("%s", (_, error) => {
    const hint = String(error.hint);
    expect(hint).toMatch(/^[A-Z`].+\.$/);
    expect(inspect(error).split(hint)).toHaveLength(2);
  });

  it("in every class, but in those whose hints depend on the response or the issues", () => {
    const classes = Object.values(sdk).filter(
      (value) => typeof value === "function" && value.prototype instanceof sdk.PodPartnerError,
    );
    const others = classes.filter(
      (type) => !(type.prototype instanceof ApiError) && errors.every((error) => error.constructor !== type),
    );
    expect(others.map(({ name }) => name).toSorted()).toEqual([
      "ApiError",
      "ConfigurationError",
      "RequestValidationError",
      "ResponseValidationError",
    ]);
  });
});

describe("a connection error says what to do next", () => {
  const call = (reason: string, sent = false) => new ConnectionError({ endpoint: "GET /x", reason, sent });

  it("when the client of an emulator has no `fetch`", async () => {
    const { baseUrl, secretKey } = createEmulator();
    const partner = new PodPartner({
      baseUrl,
      secretKey,
      retry: { retries: 0 },
      // The host name look-up fails as in Node, without network traffic.
      fetch: async () => {
        const cause = Object.assign(new Error("getaddrinfo ENOTFOUND emulator.test"), {
          code: "ENOTFOUND",
          syscall: "getaddrinfo",
        });
        throw new TypeError("fetch failed", { cause });
      },
    });
    const error = await rejection(partner.auth.validate());
    expect(error).toMatchObject({ name: "ConnectionError", sent: false });
    expect(String(error)).toContain("Pass `fetch: emulator.fetch`");
  });

  it.each([
    ["getaddrinfo ENOTFOUND api.example", "host name"],
    ["getaddrinfo EAI_AGAIN api.example", "host name"],
    ["connect ECONNREFUSED 127.0.0.1:1", "host and port"],
    ["bad port", "blocks this port"],
    ["invalid onRequestStart method (UND_ERR_INVALID_ARG)", "`fetch` of the same undici"],
  ])("when the reason is %s", (reason, words) => {
    expect(call(reason).hint).toContain(words);
    expect(call(reason).message).toContain(`\n  ${call(reason).hint}`);
  });

  it("but has no hint when the service may have received the request", () => {
    expect(call("read ECONNREFUSED", true).hint).toBeUndefined();
  });
});
