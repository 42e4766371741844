import { expect, it } from "vitest";
import { problem, setUp } from "../support.ts";

const limits = {
  default: { quota: 10, window: 2_000 },
  uploads: { quota: 2, window: 60_000 },
  downloads: { quota: 1, window: 10_000 },
};

it("reports the quotas and the remaining tokens as structured-field lists", async () => {
  const { get, upload } = setUp();
  const { headers } = await get("/orders");
  expect(headers.get("X-RateLimit-Policy")).toBe('"default";q=3000;w=60');
  expect(headers.get("X-RateLimit")).toBe('"default";r=2999;t=0');
  const uploaded = await upload("/images");
  expect(uploaded.headers.get("X-RateLimit-Policy")).toBe('"default";q=3000;w=60, "uploads";q=5000;w=86400');
  expect(uploaded.headers.get("X-RateLimit")).toBe('"default";r=2998;t=0, "uploads";r=4999;t=0');
});

it("refills continuously by the clock, up to the quota", async () => {
  const { clock, get } = setUp({ limits });
  for (let call = 0; call < 10; call += 1) expect((await get("/orders")).status).toBe(200);
  expect((await get("/orders")).status).toBe(429);
  await clock.advance(199);
  expect((await get("/orders")).status).toBe(429);
  await clock.advance(1);
  expect((await get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=0;t=1');
  await clock.advance(60_000);
  expect((await get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=9;t=0');
});

it("responds to an empty bucket with rate_limited and a wait in whole seconds, and processes nothing", async () => {
  const { clock, emulator, upload, get } = setUp({ limits });
  emulator.drain("uploads");
  const refused = await upload("/images");
  expect(problem(refused)).toEqual({ status: 429, code: "rate_limited" });
  expect(refused.headers.get("Retry-After")).toMatch(/^3[01]$/);
  expect(refused.headers.get("X-RateLimit-Policy")).toBe('"default";q=10;w=2, "uploads";q=2;w=60');
  expect(refused.headers.get("X-RateLimit")).toBe('"default";r=10;t=0, "uploads";r=0;t=30');
  expect((await get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=9;t=0');
  await clock.advance(30_000);
  expect((await upload("/images")).status).toBe(200);
});

it("requests a wait of about 17 seconds when the specification's uploads are used up, and about 1 for downloads", async () => {
  const { emulator, upload, get, demo } = setUp();
  emulator.drain("uploads");
  emulator.drain("downloads");
  expect((await upload("/evidence")).headers.get("Retry-After")).toBe("18");
  const media = `/products/${demo.products.slimCase}/media/example.png`;
  expect((await get(media)).headers.get("Retry-After")).toMatch(/^[12]$/);
  expect((await get(`/products/${demo.products.slimCase}`)).status).toBe(200);
});

it("refuses the options of a control that are not an object", () => {
  const { emulator } = setUp();
  expect(() => emulator.drain("default", 100 as never)).toThrow("Give the options as an object; got 100");
});

it("removes tokens from a bucket, as another client would", async () => {
  const { emulator, get } = setUp();
  emulator.drain("default", { tokens: 100 });
  expect((await get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=2899;t=0');
});

it("uses the bucket of downloads only for the files of renders and products", async () => {
  const { get, demo } = setUp({ limits });
  const media = `/products/${demo.products.slimCase}/media/render.png`;
  expect((await get(media)).headers.get("X-RateLimit")).toBe('"default";r=9;t=0, "downloads";r=0;t=10');
  expect(problem(await get(media)).code).toBe("rate_limited");
});
