import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startService } from "./support/service.ts";

const script = fileURLToPath(new URL("../../examples/python/place_order.py", import.meta.url));

function hasPython(): boolean {
  try {
    execFileSync("python3", ["-c", "import json, urllib.request, zlib"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const isMissing = !process.env.CI && !hasPython();
if (isMissing) console.log("python3 is missing: the tests of the Python example are skipped.");

interface Finished {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

const runPython = (environment: Readonly<Record<string, string>>): Promise<Finished> =>
  new Promise((resolve) => {
    execFile("python3", [script], { env: { PATH: process.env.PATH, ...environment } }, (error, output, errors) =>
      resolve({ code: Number(error?.code ?? 0), output, errors }),
    );
  });

it.skipIf(isMissing)("the Python example places an order, reads it and cancels it", async () => {
  await using service = await startService();
  const { baseUrl, secretKey } = service.emulator;
  const { code, output, errors } = await runPython({
    POD_PARTNER_BASE_URL: baseUrl,
    POD_PARTNER_SECRET_KEY: secretKey,
  });
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  const [, reference] = /^placed: (Order_\w{26})$/m.exec(output) ?? [];
  expect(output).toMatch(/^read: 2 of [A-Z0-9-]+$/m);
  expect(output).toMatch(/^canceled: 2$/m);
  const { orders } = (await service.get("/orders")).body;
  expect(orders.map((order: { reference: string }) => order.reference)).toEqual([reference]);
  const { orderlines } = (await service.get(`/orders/${reference}`)).body.order;
  expect(orderlines).toMatchObject([{ quantity: 2, canceledQuantity: 2, annotations: [{ key: "row", value: "7" }] }]);
});

it.skipIf(isMissing)("the Python example waits when a rate limit is exceeded", async () => {
  await using service = await startService();
  service.emulator.faults.add({ nth: 2, fault: "status", status: 429, code: "rate_limited", retryAfter: "0" });
  const { baseUrl, secretKey } = service.emulator;
  const { code, errors } = await runPython({ POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey });
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
});

it.skipIf(isMissing)("the Python example reports a refusal by its code", async () => {
  await using service = await startService();
  const { baseUrl } = service.emulator;
  const refused = await runPython({ POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: "another-secret-key" });
  expect([refused.code, refused.errors]).toEqual([1, expect.stringMatching(/^401 unauthorized: /)]);
  const unset = await runPython({});
  expect([unset.code, unset.errors.trim()]).toEqual([1, "Set POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY."]);
});

it.skipIf(isMissing)("the Python example fails when an order has another shape", async () => {
  await using service = await startService();
  const wrong = { order: { reference: "Order_1", status: "received", orderlines: [] } };
  service.emulator.faults.add({
    on: "GET /orders/{orderReference}",
    fault: "body",
    body: JSON.stringify(wrong),
    type: "application/json",
  });
  const { baseUrl, secretKey } = service.emulator;
  const { code, errors } = await runPython({ POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey });
  expect([code, errors]).toEqual([1, expect.stringMatching(/^reference: expected .*, got 'Order_1'/)]);
});
