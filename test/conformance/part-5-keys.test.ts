import { expect, it } from "vitest";
import { endpoints, filledPath, nameOf } from "./support/endpoints.ts";
import { orderInput } from "./support/inputs.ts";
import { expectLimits, limitsOf } from "./support/rate-limits.ts";
import { expectCreated, expectRefusal, startService } from "./support/service.ts";

const cases = endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const);
const second = "key-of-warehouse";

it.each(cases)("5 rule 4b, 7 status 403: %s has 403 for a key without permission", async (_, endpoint) => {
  // This key may call nothing that has a path of the specification.
  await using service = await startService({ keys: [{ secretKey: second, permissions: [] }] });
  const response = await service.send(endpoint.method, filledPath(endpoint), { key: second });
  expectRefusal(response, 403);
  expectLimits(response);
});

it("5 rule 4b: a key has 403 only where it has no permission, and changes nothing there", async () => {
  const permissions = ["orders.get", "orders.list"];
  await using service = await startService({ keys: [{ secretKey: second, permissions }], seed: { orders: 1 } });
  const json = await orderInput(service);
  expectRefusal(await service.send("POST", "/orders", { json, key: second }), 403);
  const listed = await service.send("GET", "/orders", { key: second });
  expect(listed.body.orders).toHaveLength(1);
  expect((await service.send("GET", `/orders/${listed.body.orders[0].reference}`, { key: second })).status).toBe(200);
  expectRefusal(await service.send("GET", "/stores", { key: second }), 403);
  expect((await service.get("/stores")).status).toBe(200);
});

it.each(cases)("5 rule 4: %s has 401 for a revoked key, which draws no token", async (_, endpoint) => {
  await using service = await startService({ keys: [{ secretKey: second, revoked: true }] });
  expectRefusal(await service.send(endpoint.method, filledPath(endpoint), { key: second }), 401);
  expect(limitsOf(await service.get("/stores")).levels.default?.r).toBe(2999);
});

it("5 rule 3: two keys of one organization see the same orders, and a key of another one sees none", async () => {
  const organizations = [{ name: "Other Prints", keys: [{ secretKey: "key-of-other" }] }];
  await using service = await startService({ keys: [{ secretKey: second }], organizations });
  const created = await service.send("POST", "/orders", { json: await orderInput(service), key: second });
  expectCreated(created);
  const path = `/orders/${created.body.order.reference}`;
  expect((await service.get(path)).body).toEqual((await service.send("GET", path, { key: second })).body);
  expectRefusal(await service.send("GET", path, { key: "key-of-other" }), 404);
  expect((await service.send("GET", "/orders", { key: "key-of-other" })).body.orders).toEqual([]);
});

it("8 organization: all keys of an organization share its buckets, and no other organization does", async () => {
  const organizations = [{ name: "Other Prints", keys: [{ secretKey: "key-of-other" }] }];
  const limits = { default: { quota: 5, window: 60_000 }, uploads: { quota: 2, window: 86_400_000 } };
  await using service = await startService({ keys: [{ secretKey: second }], organizations, limits });
  const upload = (key?: string) => service.send("POST", "/images", { key });
  const remaining = [await upload(), await upload(second)].map(({ headers }) => headers.get("X-RateLimit"));
  expect(remaining).toEqual(['"default";r=4;t=0, "uploads";r=1;t=0', expect.stringContaining('"default";r=3')]);
  for (const key of [undefined, second]) expectRefusal(await upload(key), 429, "rate_limited");
  const levels = async (key: string) => limitsOf(await service.send("GET", "/stores", { key })).levels;
  expect((await levels("key-of-other")).default).toEqual({ r: 4, t: 0 });
  for (let sent = 0; sent < 3; sent += 1) await service.get("/stores");
  expectRefusal(await service.send("GET", "/stores", { key: second }), 429, "rate_limited");
  expect((await service.send("GET", "/stores", { key: "key-of-other" })).status).toBe(200);
});

it.each(cases)("7 rule 2: %s has 501 when it is not publicly available yet", async (name, endpoint) => {
  await using service = await startService({ unavailable: [name] });
  const response = await service.send(endpoint.method, filledPath(endpoint));
  expect(response.status).toBe(501);
  expectLimits(response);
  const [other = endpoint] = endpoints.filter((candidate) => candidate !== endpoint);
  expect((await service.send(other.method, filledPath(other))).status).not.toBe(501);
});
