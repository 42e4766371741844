import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { createEmulator, type Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { OrderUpdatedFailure } from "../../src/callbacks/options.ts";
import { createReader, createReceiver } from "./support.ts";

/** Sends one callback of an existing order while a fault applies to the request for the order. */
async function receiveWith(fault: Fault, options: { readonly maxResponseSize?: number } = {}) {
  const emulator = createEmulator({ seed: { orders: 1 } });
  const partner = new PodPartner({ ...emulator.clientOptions, ...options, timeout: 50, retry: { retries: 0 } });
  const [listed] = await partner.orders.list().toArray();
  emulator.faults.add({ on: "orders.get", ...fault });
  const failures: OrderUpdatedFailure[] = [];
  let handled = 0;
  const receiver = createOrderUpdatedReceiver({
    partner,
    token: false,
    onOrderUpdated: () => handled++,
    onError: (failure) => failures.push(failure),
  });
  const query = new URLSearchParams({
    environment: "test",
    order_reference_v2: listed?.reference ?? "",
    store_code: "DEMO",
  });
  const { status } = await receiver.fetch(new Request(`https://shop.example/?${query}`));
  await receiver.close();
  expect(handled).toBe(0);
  return { status, failures: failures.map((one) => [(one.error as Error).name, one.status]) };
}

const status = (given: number, code?: string): Fault => ({
  fault: "status",
  status: given,
  ...(code === undefined ? {} : { code }),
});

describe("the error of the request for the order decides on the response", () => {
  it.each<[string, 204 | 503, Fault]>([
    ["NotFoundError", 204, status(404, "not_found")],
    ["GoneError", 204, status(410, "gone")],
    ["NotFoundError", 503, status(404)],
    ["GoneError", 503, status(410)],
    ["BadRequestError", 503, status(400, "unknown_input_error")],
    ["AuthenticationError", 503, status(401, "unauthorized")],
    ["PermissionDeniedError", 503, status(403, "permission_denied")],
    ["ConflictError", 503, status(409, "order_completed")],
    ["RateLimitError", 503, { fault: "status", status: 429, code: "rate_limited", retryAfter: 3_600_000 }],
    [
      "RendertokenLimitError",
      503,
      { fault: "status", status: 429, code: "rendertoken_limit_exceeded", retryAfter: 1000 },
    ],
    ["NotImplementedError", 503, status(501, "not_implemented")],
    ["ServerError", 503, status(500)],
    ["ServerError", 503, status(503, "not_found")],
    ["ApiError", 503, status(418, "teapot")],
    ["RedirectError", 503, { fault: "redirect", location: "https://elsewhere.example/" }],
    ["ResponseValidationError", 503, { fault: "body", body: { order: {} } }],
    ["ResponseValidationError", 503, { fault: "body", body: "<html>", type: "text/html" }],
    ["ConnectionError", 503, { fault: "drop" }],
    ["ConnectionError", 503, { fault: "truncate" }],
    ["RequestTimeoutError", 503, { fault: "stall" }],
  ])("%s: %i after %j", async (name, expected, fault) => {
    expect(await receiveWith(fault)).toEqual({ status: expected, failures: [[name, expected]] });
  });

  it("ResponseTooLargeError: 503", async () => {
    const fault: Fault = { fault: "body", body: "x".repeat(20_000), type: "text/plain" };
    expect(await receiveWith(fault, { maxResponseSize: 10_000 })).toEqual({
      status: 503,
      failures: [["ResponseTooLargeError", 503]],
    });
  });

  it.each([undefined, null, "gone", { status: 404, code: "not_found" }, Object.create(null)])(
    "%j, which is not an error of the SDK: 503",
    async (thrown) => {
      const { receive, failures } = createReceiver({ partner: createReader(() => Promise.reject(thrown)) });
      expect((await receive()).status).toBe(503);
      expect(failures).toMatchObject([{ error: thrown, status: 503 }]);
    },
  );

  it("a client that throws before it returns a promise: 503", async () => {
    const partner = createReader(() => {
      throw new RangeError("closed");
    });
    expect((await createReceiver({ partner }).receive()).status).toBe(503);
  });
});
