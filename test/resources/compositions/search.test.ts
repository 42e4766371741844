import { memoryStorage, type PerspectiveReference, PodPartner, type SceneReference } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { seal } from "../../../src/storage/scoped-storage.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";
import { setUp } from "../../support/setup.ts";

/** Counts the requests of a call by their endpoint. */
function watched({ emulator }: ReturnType<typeof setUp>) {
  const before = emulator.requests.length;
  return () => {
    const counts: Record<string, number> = {};
    for (const { call = "" } of emulator.requests.slice(before)) counts[call] = (counts[call] ?? 0) + 1;
    return counts;
  };
}

describe("compositions.search", () => {
  it.each<["slimCase" | "screenProtector", number]>([
    ["slimCase", 6],
    ["screenProtector", 0],
  ])("finds each combination of %s that the look-up knows, and asks once for each", async (name, least) => {
    const setup = setUp();
    const { emulator, partner, settle } = setup;
    const productReference = emulator.demo.products[name];
    const counted = watched(setup);
    const found = await settle(collect(partner.compositions.search({ productReference })));
    const { "compositions.lookup": looked = 0, ...lists } = counted();
    expect(found.length).toBeGreaterThanOrEqual(least);
    expect(lists).toMatchObject({ "scenes.list": 1, "perspectives.list": 1 });
    for (const { composition, ...parts } of found) {
      expect(parts.productReference).toBe(productReference);
      expect(await settle(partner.compositions.lookup(parts))).toMatchObject(composition);
    }
    // Every combination of a scene with a perspective of its own or of the product, tried by hand.
    let [tried, existing] = [0, 0];
    const perspectives = await settle(partner.perspectives.list({ productReference }));
    for (const { reference: sceneReference } of await settle(partner.scenes.list())) {
      const scene = await settle(partner.scenes.get(sceneReference));
      const all = [...scene.perspectives, ...(scene.allowsProductPerspectives ? perspectives : [])];
      for (const perspectiveReference of new Set(all.map(({ reference }) => reference))) {
        tried += 1;
        const parts = { sceneReference, productReference, perspectiveReference };
        existing += await settle(
          partner.compositions.lookup(parts).then(
            () => 1,
            () => 0,
          ),
        );
      }
    }
    expect([looked, found.length]).toEqual([tried, existing]);
  });

  it("keeps fields that the SDK does not know, also of a remembered composition", async () => {
    const { emulator, settle } = setUp();
    const fetch = async (request: Request, init?: RequestInit) => {
      const response = await emulator.fetch(request, init);
      if (!request.url.includes("lookup-composition") || !response.ok) return response;
      const { composition } = (await response.json()) as { composition: object };
      return Response.json({ composition: { ...composition, previewUrl: "u" } }, { headers: response.headers });
    };
    const partner = new PodPartner({ ...emulator.clientOptions, fetch });
    const { slimCase: productReference } = emulator.demo.products;
    for (let run = 0; run < 2; run += 1) {
      const found = await settle(collect(partner.compositions.search({ productReference })));
      expect(found.length).toBeGreaterThan(0);
      for (const { composition } of found) expect(composition).toMatchObject({ previewUrl: "u" });
    }
  });

  it("sends all its requests with its options, and tries only the scenes of the productgroup that it gets", async () => {
    const callIds = new Set<string>();
    const hooks = { onRequest: ({ callId }: { callId: string }) => callIds.add(callId) };
    const { emulator, partner, settle } = setUp({}, { hooks });
    const { products, productgroups } = emulator.demo;
    const by = { productReference: products.slimCase, productgroupReference: productgroups.slimCases };
    await settle(collect(partner.compositions.search(by, { callId: "job-7" })));
    const lists = emulator.requests.where({ on: "scenes.list" });
    expect(lists.map(({ path }) => path)).toEqual([`/scenes?productgroupReference=${productgroups.slimCases}`]);
    expect([...callIds].map((id) => id.slice(0, 6))).toEqual(Array(callIds.size).fill("job-7/").with(0, "job-7"));
  });

  it("tries all products in a scene", async () => {
    const { emulator, partner, settle } = setUp();
    const { studio: sceneReference } = emulator.demo.scenes;
    const found = await settle(collect(partner.compositions.search({ sceneReference })));
    const products = new Set(found.map(({ productReference }) => productReference));
    expect(products.size).toBeGreaterThan(1);
    expect(products).toContain(emulator.demo.products.slimCase);
    expect(new Set(found.map((one) => one.sceneReference))).toEqual(new Set([sceneReference]));
  });

  it.each(["slimCase", "screenProtector"] as const)(
    "remembers the combinations of %s for a day, in the storage",
    async (name) => {
      const setup = setUp();
      const { emulator, clock, settle } = setup;
      const storage = memoryStorage({ clock });
      const productReference = emulator.demo.products[name];
      const search = () =>
        settle(
          collect(
            new PodPartner({ ...emulator.clientOptions, clock, storage }).compositions.search({ productReference }),
          ),
        );
      const first = await search();
      const counted = watched(setup);
      expect(await search()).toEqual(first);
      expect(counted()).not.toHaveProperty("compositions.lookup");
      await clock.advance(24 * 3_600_000);
      await search();
      expect(counted()["compositions.lookup"]).toBeGreaterThanOrEqual(4);
    },
  );

  it("is the memory of a batch, too", async () => {
    const setup = setUp({ renderDuration: 0 });
    const { emulator, partner, settle } = setup;
    const { slimCase: productReference } = emulator.demo.products;
    const [one] = await settle(collect(partner.compositions.search({ productReference })));
    const image = await settle(partner.images.list().toArray({ limit: 1 }));
    const counted = watched(setup);
    if (one === undefined) throw new Error("No composition was found");
    const { composition: _, ...parts } = one;
    const rows = image.map(({ reference }) => ({ ...parts, imageReference: reference }));
    await settle(collect(partner.renders.batch(rows, { download: false })));
    expect(counted()).not.toHaveProperty("compositions.lookup");
  });

  it("throws what a request rejects with, and continues where it was in the next call", async () => {
    const setup = setUp();
    const { emulator, partner, settle } = setup;
    const { slimCase: productReference } = emulator.demo.products;
    const outage = emulator.faults.add({ on: "compositions.lookup", nth: (n) => n > 4, fault: "status", status: 403 });
    const search = () => settle(collect(partner.compositions.search({ productReference }, { concurrency: 1 })));
    expect(await rejection(search())).toMatchObject({ name: "PermissionDeniedError" });
    outage.remove();
    const counted = watched(setup);
    const found = await search();
    expect(found.length).toBeGreaterThan(0);
    const whole = await settle(collect(setup.connect().compositions.search({ productReference })));
    expect(whole).toEqual(expect.arrayContaining([...found]));
    expect(counted()["compositions.lookup"]).toBeGreaterThan(0);
  });

  it.each([404, 410])(
    "does not take the page of a gateway with status %i for a combination that does not exist",
    async (status) => {
      const setup = setUp();
      const { emulator, partner, settle } = setup;
      const { slimCase: productReference } = emulator.demo.products;
      const page = { fault: "body", status, body: "<h1>Maintenance</h1>", type: "text/html" } as const;
      const maintenance = emulator.faults.add({ on: "compositions.lookup", ...page });
      const search = (client = partner) => settle(collect(client.compositions.search({ productReference })));
      expect(await rejection(search())).toMatchObject({ status, endpoint: "GET /lookup-composition" });
      maintenance.remove();
      const found = await search();
      expect(found.length).toBeGreaterThan(0);
      expect(found).toEqual(await search(setup.connect()));
    },
  );

  it.each([
    ["as it was", undefined, "asks nothing"],
    ["without its reference", '{"tokenCost":1}', "asks again"],
    ["said to exist, without more", '{"exists":true}', "asks again"],
    ["no object", "[]", "asks again"],
    ["no JSON", "{", "asks again"],
  ])("with a remembered composition that is %s (%j) %s", async (_, changed, expected) => {
    const setup = setUp();
    const { emulator, settle, clock } = setup;
    const storage = memoryStorage({ clock });
    const partner = new PodPartner({ ...emulator.clientOptions, storage });
    const { slimCase: productReference } = emulator.demo.products;
    const search = () => settle(collect(partner.compositions.search({ productReference })));
    const first = await search();
    const counted = watched(setup);
    const remembered: string[] = [];
    for await (const key of storage.keys("")) if (key.includes("composition:")) remembered.push(key);
    for (const key of changed === undefined ? [] : remembered)
      await storage.set(key, seal(key.slice(key.indexOf("composition:")), new TextEncoder().encode(changed)));
    expect(await search()).toEqual(first);
    expect(counted()["compositions.lookup"] ?? 0).toBe(expected === "asks again" ? remembered.length : 0);
  });

  it("yields in the order of the scenes and then of the perspectives, whichever response comes first", async () => {
    const scenes = ["s1", "s2", "s3"].map((name) => ref("Scene", name));
    const perspectives = Array.from({ length: 30 }, (_, n) => ref("Perspective", `p${n}`));
    const product = ref("Product", "1");
    // Every seventh does not exist, or no longer.
    const missing = (at: number): 404 | 410 | undefined => (at % 7 > 0 ? undefined : at % 2 === 0 ? 404 : 410);
    const expected = scenes.flatMap((scene, s) =>
      perspectives
        .map((perspective, p) => ({ scene, perspective, at: s * perspectives.length + p }))
        .filter(({ at }) => missing(at) === undefined)
        .map(({ scene, perspective }) => `${scene} ${perspective}`),
    );
    for (let seed = 1; seed <= 10; seed += 1) {
      const clock = createManualClock();
      let random = seed;
      let [running, most, looked] = [0, 0, 0];
      const fetch = async (request: Request, init?: RequestInit): Promise<Response> => {
        const { pathname, searchParams } = new URL(request.url);
        if (pathname.endsWith("/scenes"))
          return Response.json({ scenes: scenes.map((reference) => ({ reference, name: "" })) });
        if (pathname.includes("/scenes/")) {
          const reference = pathname.split("/").at(-1);
          const all = { perspectives: perspectives.map((one) => ({ reference: one })), compatibleProductgroups: [] };
          const scene = {
            reference,
            name: "",
            description: "",
            private: false,
            allowsProductPerspectives: false,
            ...all,
          };
          return Response.json({ scene });
        }
        looked += 1;
        running += 1;
        most = Math.max(most, running);
        random = (random * 48_271) % 2_147_483_647;
        await new Promise<void>((resolve) => {
          clock.after(random % 3_000, resolve);
          init?.signal?.addEventListener("abort", () => resolve());
        });
        running -= 1;
        const s = scenes.indexOf(searchParams.get("sceneReference") as SceneReference);
        const p = perspectives.indexOf(searchParams.get("perspectiveReference") as PerspectiveReference);
        const status = missing(s * perspectives.length + p);
        if (status !== undefined) return Response.json({ code: "not_found", message: "none" }, { status });
        return Response.json({ composition: { reference: ref("Composition", `${s}v${p}`), tokenCost: 1 } });
      };
      const baseUrl = "https://partner.example/v2";
      const partner = new PodPartner({ baseUrl, secretKey: "test-secret-key", clock, fetch });
      const search = async (limit = Number.POSITIVE_INFINITY) => {
        const found: string[] = [];
        for await (const one of partner.compositions.search({ productReference: product })) {
          found.push(`${one.sceneReference} ${one.perspectiveReference}`);
          if (found.length === limit) break;
        }
        return found;
      };
      expect(await settle(clock, search(1))).toEqual(expected.slice(0, 1));
      // The first one found ends the search: of 90 look-ups, only those that were running then were sent.
      expect(looked).toBeLessThanOrEqual(20);
      expect(await settle(clock, search())).toEqual(expected);
      expect(most).toBe(16);
      // Those that the end of the first search canceled are repeated.
      expect(looked).toBeLessThanOrEqual(90 + 15);
      const all = looked;
      expect(await settle(clock, search())).toEqual(expected);
      expect(looked).toBe(all);
    }
  });

  it("refuses a search for nothing, and unknown fields, before a request is sent", async () => {
    const { emulator, partner } = setUp();
    const { search } = partner.compositions;
    for (const by of [{}, { sceneReference: "Scene" }, { product: "x" }, undefined, []])
      expect(await rejection(collect(search(by as never)))).toMatchObject({ name: "RequestValidationError" });
    expect(await rejection(collect(search({})))).toMatchObject({
      issues: [{ path: ["search"], message: "needs a `productReference`, a `sceneReference`, or both" }],
    });
    const sceneReference = ref("Product") as never;
    const productgroupReference = ref("Brand") as never;
    expect(await rejection(collect(search({ sceneReference, productgroupReference })))).toMatchObject({
      issues: [{ path: ["search", "sceneReference"] }, { path: ["search", "productgroupReference"] }],
    });
    const productReference = emulator.demo.products.slimCase;
    expect(await rejection(collect(search({ productReference }, { parallel: 2 } as never)))).toMatchObject({
      issues: [{ path: ["parallel"] }],
    });
    expect(emulator.requests).toEqual([]);
  });
});
