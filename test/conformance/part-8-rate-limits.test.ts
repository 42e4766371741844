import { expect, it } from "vitest";
import { endpoints, filledPath, nameOf } from "./support/endpoints.ts";
import { png } from "./support/images.ts";
import { createRender, placeOrder } from "./support/inputs.ts";
import { expectLimits, limitsOf, parseList } from "./support/rate-limits.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";

it("8 default: 3000 in 60 seconds", async () => {
  await using service = await startService();
  expect(limitsOf(await service.get("/stores")).quotas.default).toEqual({ q: 3000, w: 60 });
});

it("8 uploads: 5000 in 24 hours", async () => {
  await using service = await startService();
  expect(limitsOf(await service.upload("/images", png("a"))).quotas.uploads).toEqual({ q: 5000, w: 86_400 });
});

it("8 downloads: 100000 in 24 hours", async () => {
  await using service = await startService();
  const path = `/products/${service.demo.products.slimCase}/media/render.png`;
  expect(limitsOf(await service.get(path)).quotas.downloads).toEqual({ q: 100_000, w: 86_400 });
});

/** The tokens of each bucket, read without drawing from uploads and downloads. */
async function remaining(service: Service) {
  const levels = async (path: string, method = "GET") => limitsOf(await service.send(method, path)).levels;
  const upload = await levels("/images", "POST");
  const download = await levels(`/products/${service.demo.products.slimCase}/media/nothing`);
  return { default: download.default?.r, uploads: upload.uploads?.r, downloads: download.downloads?.r };
}

it.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "8 rule 1, 8 rule 2, 4.6 rule 4: %s draws one token of default and of its own bucket, and has the headers",
  async (_, endpoint) => {
    await using service = await startService();
    const before = await remaining(service);
    const response = await service.send(endpoint.method, filledPath(endpoint));
    expectLimits(response);
    const after = await remaining(service);
    // Reading the levels draws two tokens of default, and one of each other bucket.
    expect((before.default ?? 0) - (after.default ?? 0)).toBe(3);
    expect((before.uploads ?? 0) - (after.uploads ?? 0)).toBe(endpoint.bucket === "uploads" ? 2 : 1);
    expect((before.downloads ?? 0) - (after.downloads ?? 0)).toBe(endpoint.bucket === "downloads" ? 2 : 1);
    const own = endpoint.bucket === undefined ? [] : [endpoint.bucket];
    expect(Object.keys(limitsOf(response).levels)).toEqual(expect.arrayContaining(["default", ...own]));
  },
);

it("8 rule 2: responses of every status have the headers: 200, 202, 204, 304, 400, 403, 404, 409, 410", async () => {
  await using service = await startService();
  const { demo } = service;
  const render = await createRender(service);
  const order = await placeOrder(service);
  const cancel = { orderlines: [{ index: 1, canceledQuantity: 1 }] };
  const media = `/products/${demo.products.slimCase}/media/example.png`;
  const responses = [
    await service.get("/stores"),
    await service.get(`/renders/${render}/media`),
    await service.post(`/orders/${order}/cancel`, cancel),
    await service.get(media, { "If-None-Match": (await service.get(media)).headers.get("ETag") ?? "" }),
    await service.post("/orders", {}),
    await service.get("/nowhere"),
    await service.get(`/products/${demo.products.slimCase8}`),
  ];
  service.emulator.startProduction(order);
  responses.push(await service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 1, canceledQuantity: 2 }] }));
  service.emulator.setStoreIntegration(demo.stores.api, "shopify");
  responses.push(await service.post(`/orders/${order}/cancel`, cancel));
  expect(responses.map(({ status }) => status)).toEqual([200, 202, 204, 304, 400, 404, 410, 409, 403]);
  for (const response of responses) expectLimits(response);
});

it("8 rule 2: a response without authentication draws no token", async () => {
  await using service = await startService();
  const level = async () => limitsOf(await service.get("/stores")).levels.default?.r ?? 0;
  const before = await level();
  for (const key of [null, "another-secret-key"]) expectRefusal(await service.send("GET", "/stores", { key }), 401);
  expect(await level()).toBe(before - 1);
});

it("8 rule 1: a bucket refills continuously, up to its quota", async () => {
  await using service = await startService();
  service.emulator.drain("default", { tokens: 2900 });
  const level = async () => limitsOf(await service.get("/stores")).levels.default?.r;
  expect(await level()).toBe(99);
  service.clock.advance(20);
  expect(await level()).toBe(99);
  service.clock.advance(200);
  expect(await level()).toBe(108);
  service.clock.advance(3_600_000);
  expect(await level()).toBe(2999);
});

/** A request of each policy, with the seconds after which part 8 lets its bucket have a token. */
const policies = [
  ["default", 0.02, (service: Service) => service.get("/stores")],
  ["uploads", 17.28, (service: Service) => service.upload("/images", png("a"))],
  [
    "downloads",
    0.864,
    (service: Service) => service.get(`/products/${service.demo.products.slimCase}/media/render.png`),
  ],
] as const;

it.each(policies)(
  "8 rule 3, 7 status 429, 7 code rate_limited: an empty %s bucket has 429 with Retry-After and both headers",
  async (name, seconds, send) => {
    await using service = await startService();
    expect((await send(service)).status).toBe(200);
    service.emulator.drain(name);
    const refused = await send(service);
    expectRefusal(refused, 429, "rate_limited");
    expectLimits(refused);
    expect(limitsOf(refused).levels[name]).toEqual({ r: 0, t: Math.ceil(seconds) });
    const retryAfter = refused.headers.get("Retry-After") ?? "";
    expect(retryAfter).toMatch(/^[1-9]\d*$/);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(Math.ceil(seconds));
    expect(Number(retryAfter)).toBeLessThanOrEqual(Math.ceil(seconds) + 2);
    service.clock.advance(seconds * 1000 - 10);
    expectRefusal(await send(service), 429, "rate_limited");
    service.clock.advance(Number(retryAfter) * 1000);
    expect((await send(service)).status).toBe(200);
  },
);

it.each(policies)("8 rule 3: a refusal by the empty %s bucket changes nothing", async (name, _, send) => {
  await using service = await startService();
  service.emulator.drain(name);
  for (const _ of [1, 2, 3]) expectRefusal(await send(service), 429, "rate_limited");
  service.clock.advance(60_000);
  expect((await service.get("/images")).body.images).toEqual([]);
});

it("8 rule 3: an upload with an empty default bucket has 429, and draws no token of uploads", async () => {
  await using service = await startService();
  service.emulator.drain("default");
  for (const _ of [1, 2, 3]) expectRefusal(await service.upload("/images", png("a")), 429, "rate_limited");
  service.clock.advance(60_000);
  expect(limitsOf(await service.upload("/images", png("a"))).levels.uploads?.r).toBe(4999);
});

it("8 rule 2: the reader of this suite refuses what is not a structured-field list", () => {
  expect(parseList('"default";r=1;t=0, "uploads";r=2;t=0')).toEqual({
    default: { r: 1, t: 0 },
    uploads: { r: 2, t: 0 },
  });
  for (const wrong of [null, "", "default;r=1", '"default";r=1,', '"default" r=1', '"default";r=1.5.2', '"a";R=1']) {
    expect(() => parseList(wrong)).toThrow();
  }
});
