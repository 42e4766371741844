import { expect } from "vitest";
import { runControl } from "../support/controls.ts";
import { createRender, sendOrder } from "../support/inputs.ts";
import { limitsOf } from "../support/rate-limits.ts";
import { expectRefusal, startService } from "../support/service.ts";
import type { Effects } from "./effects.ts";

/** The effects of the controls of renders, the catalog, limits, keys and faults. */
export const effectsOnCatalog: Effects = {
  completeRender: async () => {
    await using service = await startService();
    const render = await createRender(service);
    expect((await service.get(`/renders/${render}/media`)).status).toBe(202);
    await runControl(service, "completeRender", { render });
    expect((await service.get(`/renders/${render}`)).body.render.status).toBe("completed");
    expect((await service.get(`/renders/${render}/media`)).status).toBe(200);
  },
  failRender: async () => {
    await using service = await startService();
    const render = await createRender(service);
    await runControl(service, "failRender", { render });
    expect((await service.get(`/renders/${render}`)).body.render.status).toBe("failed");
  },
  updateProduct: async () => {
    await using service = await startService();
    const product = service.demo.products.slimCase;
    const changes = { status: "ended", availableQuantity: 7, weightGrams: null };
    await runControl(service, "updateProduct", { product, ...changes });
    expect((await service.get(`/products/${product}`)).body.product).toMatchObject(changes);
    expectRefusal(await sendOrder(service), "4xx", "product_not_orderable");
  },
  setStock: async () => {
    await using service = await startService();
    const [{ reference }] = (await service.get("/items")).body.items;
    await runControl(service, "setStock", { item: reference, logicalQuantity: 12, physicalQuantity: 15 });
    const [item] = (await service.get("/items")).body.items;
    expect(item).toMatchObject({ reference, logicalQuantity: 12, physicalQuantity: 15 });
  },
  replaceMedia: async () => {
    await using service = await startService();
    const product = service.demo.products.slimCase;
    const etag = async () =>
      (await service.get(`/products/${product}/media/example.png`)).headers.get("ETag") ?? "none";
    const before = await etag();
    await runControl(service, "replaceMedia", { product });
    expect([before, await etag()]).toEqual([expect.stringMatching(/^(W\/)?"/), expect.not.stringContaining(before)]);
  },
  drain: async () => {
    await using service = await startService();
    await runControl(service, "drain", { policy: "default", tokens: 1000 });
    expect(limitsOf(await service.get("/stores")).levels.default).toEqual({ r: 1999, t: 0 });
    await runControl(service, "drain", { policy: "default" });
    expectRefusal(await service.get("/stores"), 429, "rate_limited");
  },
  updateKey: async () => {
    await using service = await startService();
    const { secretKey } = service.emulator;
    await runControl(service, "updateKey", { secretKey, permissions: ["orders.*"] });
    expect((await service.get("/orders")).status).toBe(200);
    expectRefusal(await service.get("/stores"), 403);
    await runControl(service, "updateKey", { secretKey, revoked: true });
    expectRefusal(await service.get("/orders"), 401);
    await runControl(service, "updateKey", { secretKey, permissions: null, revoked: false });
    expect((await service.get("/stores")).status).toBe(200);
  },
  "faults.add": async () => {
    await using service = await startService();
    await runControl(service, "faults.add", { fault: { fault: "drop", on: "POST /orders", nth: 1 } });
    await expect(sendOrder(service)).rejects.toThrow("fetch failed");
    // The service carries the request out before the connection breaks.
    expect((await service.get("/orders")).body.orders).toHaveLength(1);
    expect((await sendOrder(service)).status).toBe(200);
  },
  "faults.remove": async () => {
    await using service = await startService();
    const { id } = await runControl(service, "faults.add", { fault: { fault: "status", status: 503 } });
    expect((await service.get("/stores")).status).toBe(503);
    await runControl(service, "faults.remove", { id });
    expect((await service.get("/stores")).status).toBe(200);
  },
  "faults.clear": async () => {
    await using service = await startService();
    await runControl(service, "faults.add", { fault: { fault: "status", status: 500, on: "GET /stores" } });
    await runControl(service, "faults.add", { fault: { fault: "status", status: 502, on: "GET /brands" } });
    const statuses = async () => [(await service.get("/stores")).status, (await service.get("/brands")).status];
    expect(await statuses()).toEqual([500, 502]);
    await runControl(service, "faults.clear");
    expect(await statuses()).toEqual([200, 200]);
  },
};
