import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeyValueStorage, memoryStorage, type PartnerClock, PodPartner, type RenderReference } from "pod-partner";
import { createOrderFollower } from "pod-partner/callbacks";
import { sqliteStorage } from "pod-partner/sqlite";
import { createEmulator, createManualClock, validOrder, validPackageMissing, validRender } from "pod-partner/testing";
import { decodeTime } from "ulid";
import { describe, expect, it } from "vitest";
import { type Lock, takeLock } from "../../src/storage/lock.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { settle } from "../support/settle.ts";

const hour = 3_600_000;

/**
 * A machine's two clocks. The monotonic one begins at its start, so that its time cannot be taken for a date, and stands still during a
 * suspend. Both a suspend and a step of the machine's clock move `date` alone.
 */
function createClocks() {
  const manual = createManualClock();
  const started = manual.now() - 1_000;
  let stepped = 0;
  const clock: Required<PartnerClock> = {
    now: () => manual.now() - started,
    date: () => manual.now() + stepped,
    after: manual.after,
  };
  const step = (ms: number) => {
    stepped += ms;
  };
  return { manual, clock, step };
}

const steps = [
  ["without a step", 0],
  ["after a suspend of 8 hours", 8 * hour],
  ["after a step back of an hour", -hour],
] as const;

const partnerOf = (clock: PartnerClock, respond: (request: Request) => Promise<Response>) =>
  new PodPartner({
    baseUrl: "https://partner.example/v2",
    secretKey,
    clock,
    retry: { retries: 0 },
    fetch: respond,
  });

const refusal = (status: number, code: string, headers: Record<string, string>) => async () =>
  Response.json({ code, message: "no" }, { status, headers });

const failure = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(steps)("%s", (_, ms) => {
  it("`resetsAt` is a point in time of the machine", async () => {
    const { clock, step } = createClocks();
    const partner = partnerOf(clock, refusal(429, "rendertoken_limit_exceeded", { "retry-after": "90000" }));
    const render = { compositionReference: ref("Composition"), imageReference: ref("Image") };
    step(ms);
    expect(await failure(partner.renders.create(render))).toMatchObject({
      name: "RendertokenLimitError",
      retryAfter: 90_000_000,
      resetsAt: new Date(clock.date() + 90_000_000).toISOString(),
    });
  });

  it("a `Retry-After` that is a date is compared with `Date`, or with the machine's clock", async () => {
    const { clock, step } = createClocks();
    step(ms);
    const at = (time: number) => new Date(time).toUTCString();
    const own = partnerOf(clock, refusal(503, "busy", { "retry-after": at(clock.date() + 30_000) }));
    expect(await failure(own.organization.get())).toMatchObject({ retryAfter: 30_000 });
    const dated = { "retry-after": at(Date.UTC(2030, 1, 1, 0, 0, 40)), date: at(Date.UTC(2030, 1, 1, 0, 0, 10)) };
    const other = partnerOf(clock, refusal(503, "busy", dated));
    expect(await failure(other.organization.get())).toMatchObject({ retryAfter: 30_000 });
  });

  it("the emulator's `Date` and timestamps, and the ULID of an order, are points in time of the machine", async () => {
    const { clock, step } = createClocks();
    const emulator = createEmulator({ clock });
    const partner = new PodPartner(emulator.clientOptions);
    await partner.organization.get();
    step(ms);
    const { data, response } = await partner.orders.create(validOrder(emulator)).withResponse();
    expect(Date.parse(response.headers.get("date") ?? "")).toBe(Math.floor(clock.date() / 1_000) * 1_000);
    const claim = await partner.claims.createPackageMissing(validPackageMissing(emulator));
    expect(Date.parse((await partner.claims.get(claim.reference)).created)).toBe(clock.date());
    expect(decodeTime(data.customIdentifier)).toBe(clock.date());
  });

  it("a claim whose response is lost is found, and filed once", async () => {
    for (const dated of [true, false]) {
      const { clock, manual, step } = createClocks();
      const emulator = createEmulator({ clock: manual });
      let filed = 0;
      const fetch = async (...[input, init]: Parameters<typeof emulator.fetch>) => {
        const request = new Request(input, init);
        const response = await emulator.fetch(request);
        if (!dated) response.headers.delete("date");
        if (request.method === "POST" && request.url.includes("/claim-")) {
          filed += 1;
          step(ms);
          throw new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) });
        }
        return response;
      };
      const partner = new PodPartner({ ...emulator.clientOptions, clock, fetch });
      const claim = await settle(manual, partner.claims.createPackageMissing(validPackageMissing(emulator)));
      expect({ recovered: claim.recovered, filed }).toEqual({ recovered: true, filed: 1 });
      expect(manual.pending).toBe(0);
    }
  });

  it("a follower's sweep reads the order", async () => {
    const { clock, manual, step } = createClocks();
    const emulator = createEmulator({ clock: manual });
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const handed: string[] = [];
    const follower = createOrderFollower({
      partner,
      clock,
      storage: memoryStorage({ clock }),
      onChange: ({ changes }) => void handed.push(...changes.map(({ kind }) => kind)),
    });
    const { reference } = await partner.orders.create(validOrder(emulator));
    await follower.follow(reference);
    expect(await follower.reconcile()).toMatchObject({ checked: 1 });
    step(ms);
    // Read a moment ago, unless the machine's clock says otherwise: a time in the future is that of a wrong clock.
    expect(await follower.reconcile({ unreadFor: 10_000 })).toMatchObject({ checked: ms === 0 ? 0 : 1 });
    await manual.advance(1_000);
    emulator.hold(reference, "Waiting for stock");
    await follower.reconcile({ unreadFor: 0 });
    expect(handed).toContain("held");
    await follower.close();
  });

  it("a render that failed in this run is not paid for again", async () => {
    const { clock, manual, step } = createClocks();
    const emulator = createEmulator({ clock: manual, renderDuration: 60_000 });
    let creations = 0;
    const fetch = async (request: Request, init?: RequestInit) => {
      const response = await emulator.fetch(request, init);
      if (request.method !== "POST" || !request.url.endsWith("/renders")) return response;
      creations += 1;
      const { render } = (await response.clone().json()) as { render: { reference: RenderReference } };
      emulator.failRender(render.reference);
      step(ms);
      return response;
    };
    const partner = new PodPartner({ ...emulator.clientOptions, clock, fetch });
    const row = validRender(emulator);
    const rows = [row, row, row];
    const run = async () => {
      const reasons: unknown[] = [];
      for await (const outcome of partner.renders.batch(rows, { download: false, retryFailed: true, concurrency: 1 }))
        reasons.push(outcome.ok || outcome.reason);
      return reasons;
    };
    expect(await settle(manual, run())).toEqual(["render-failed", "render-failed", "render-failed"]);
    expect(creations).toBe(1);
  });

  it("a render that another run left pending is not paid for again", async () => {
    const { clock, manual, step } = createClocks();
    const emulator = createEmulator({ clock: manual, renderDuration: 90_000 });
    const row = validRender(emulator);
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const run = async (signal?: AbortSignal) => {
      for await (const outcome of partner.renders.batch([row], { download: false, signal }))
        return outcome.ok || outcome.error;
    };
    const controller = new AbortController();
    const first = failure(run(controller.signal));
    await manual.advance(10_000);
    controller.abort();
    await first;
    step(ms);
    expect(await settle(manual, run())).toBe(true);
    expect(emulator.requests.where({ on: "renders.create" })).toHaveLength(1);
  });

  it("a value of a file lives by the machine's clock, and a value in memory by the time that passes", async () => {
    const { clock, manual, step } = createClocks();
    const folder = await mkdtemp(join(tmpdir(), "points-in-time-"));
    const file = sqliteStorage(join(folder, "a.db"), { clock });
    const memory = memoryStorage({ clock });
    const bytes = new Uint8Array([1]);
    try {
      for (const storage of [file, memory]) await storage.set("key", bytes, { ttl: 10_000 });
      step(ms);
      expect(await file.get("key")).toEqual(ms > 0 ? undefined : bytes);
      expect(await memory.get("key")).toEqual(bytes);
      await manual.advance(10_000);
      expect(await memory.get("key")).toBeUndefined();
      await manual.advance(hour);
      expect(await file.get("key")).toBeUndefined();
    } finally {
      await file.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("a deadline ends after its time, and not before", async () => {
    const { clock, manual, step } = createClocks();
    const emulator = createEmulator({ clock });
    emulator.faults.add({ on: "organization.get", fault: "stall" });
    const partner = new PodPartner(emulator.clientOptions);
    let ended: unknown;
    const call = failure(partner.organization.get({ deadline: 5_000 })).then((error) => (ended = error));
    await manual.advance(1_000);
    step(ms);
    await manual.advance(3_999);
    expect(ended).toBeUndefined();
    await manual.advance(1);
    await call;
    expect(ended).toMatchObject({ name: "DeadlineError" });
  });

  it.each(["memory", "sqlite"])("a lock in %s is certain only while no other process can have it", async (kind) => {
    const { clock, manual, step } = createClocks();
    const folder = await mkdtemp(join(tmpdir(), "points-in-time-"));
    const storages: KeyValueStorage[] = [];
    const open = () => {
      const storage = kind === "memory" ? memoryStorage({ clock }) : sqliteStorage(join(folder, "a.db"), { clock });
      storages.push(storage);
      return storage;
    };
    try {
      const storage = open();
      // A suspended process renews nothing.
      const suspended = { ...clock, after: () => () => undefined };
      const lock = (await takeLock(storage, "key", 5_000, suspended)) as Lock;
      expect(lock.isCertain).toBe(true);
      step(ms);
      const other = await takeLock(storage, "key", 5_000, clock);
      // Never both.
      expect(lock.isCertain && other !== undefined).toBe(false);
      expect(lock.isCertain).toBe(ms <= 0);
      await manual.advance(5_000);
      expect(lock.isCertain).toBe(false);
      if (other !== undefined && other !== "lost") await other.release();
    } finally {
      for (const storage of storages) if ("close" in storage) await (storage as { close(): unknown }).close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("a clock of a program", () => {
  const { now, after } = createManualClock();
  it.each<[string, PartnerClock]>([
    ["without `date`", { now, after }],
    [
      "whose `date` throws",
      {
        now,
        after,
        date: () => {
          throw new Error("of a clock");
        },
      },
    ],
    ["whose `date` is no number", { now, after, date: () => Number.NaN }],
    ["whose `date` is undefined", { now, after, date: () => undefined as never }],
  ])("works: one %s", async (_, clock) => {
    const emulator = createEmulator({ clock });
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const order = await partner.orders.create(validOrder(emulator));
    const claim = await partner.claims.createPackageMissing(validPackageMissing(emulator));
    expect(Date.parse((await partner.claims.get(claim.reference)).created)).not.toBeNaN();
    const { resetsAt } = (await failure(
      partnerOf(clock, refusal(429, "rendertoken_limit_exceeded", { "retry-after": "60" })).renders.create({
        compositionReference: ref("Composition"),
        imageReference: ref("Image"),
      }),
    )) as { resetsAt: string };
    expect(Date.parse(resetsAt)).not.toBeNaN();
    const follower = createOrderFollower({
      partner,
      clock,
      storage: memoryStorage({ clock }),
      onChange: () => undefined,
    });
    await follower.follow(order.reference);
    expect(await follower.reconcile()).toMatchObject({ checked: 1 });
    await follower.close();
  });
});
