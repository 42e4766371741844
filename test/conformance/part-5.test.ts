import { expect, it } from "vitest";
import { endpoints, filledPath, nameOf } from "./support/endpoints.ts";
import { expectRefusal, startService } from "./support/service.ts";

const cases = endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const);

it.each(cases)("5 rule 1, 5 rule 4, 7 status 401: %s without the key's header has 401", async (_, endpoint) => {
  await using service = await startService();
  const path = filledPath(endpoint);
  const wrong = ["", "another-secret-key", `${service.emulator.secretKey}x`, service.emulator.secretKey.toUpperCase()];
  expectRefusal(await service.send(endpoint.method, path, { key: null }), 401);
  for (const key of wrong) expectRefusal(await service.send(endpoint.method, path, { key }), 401);
});

it("5 rule 1: a key in another header, the query or the URL has 401", async () => {
  await using service = await startService();
  const { secretKey } = service.emulator;
  const headers = [
    { Authorization: `Bearer ${secretKey}` },
    { Authorization: `Basic ${Buffer.from(`key:${secretKey}`).toString("base64")}` },
    { "X-Api-Key": secretKey },
    { "X-Secret-Key": secretKey },
    { Cookie: `X-Service-Secret-Key=${secretKey}` },
  ] as unknown as readonly Readonly<Record<string, string>>[];
  for (const given of headers) expectRefusal(await service.send("GET", "/stores", { key: null, headers: given }), 401);
  const query = new URLSearchParams({ "X-Service-Secret-Key": secretKey });
  expectRefusal(await service.send("GET", `/stores?${query}`, { key: null }), 401);
});

it("5 rule 1: the header's name is case-insensitive", async () => {
  await using service = await startService();
  const headers = { "x-service-SECRET-key": service.emulator.secretKey };
  expect((await service.send("GET", "/stores", { key: null, headers })).status).toBe(200);
});

it("5 rule 2: a v1 partner code with a v1 key has 401", async () => {
  await using service = await startService();
  const headers = { "X-Partner-Code": "DEMO", "X-Api-Key": "v1-key" };
  expectRefusal(await service.send("GET", "/stores", { key: null, headers }), 401);
  expectRefusal(await service.send("GET", "/stores", { key: "DEMO:v1-key" }), 401);
});

it("5 rule 4: a request without a valid key changes nothing", async () => {
  await using service = await startService();
  const json = { order: { storeReference: service.demo.stores.api } };
  expectRefusal(await service.send("POST", "/orders", { key: null, json }), 401);
  expect((await service.get("/orders")).body.orders).toEqual([]);
});
