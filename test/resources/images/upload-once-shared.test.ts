import { createHash } from "node:crypto";
import { type Hooks, type KeyValueStorage, memoryStorage, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { secretKey } from "../../support/partner.ts";
import { png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";

const reference = ref("Image", "1");
const baseUrl = "http://service.test/v2";

/** A service that responds to each upload when the test says so. */
function connect(clock = createManualClock(), storage: KeyValueStorage = memoryStorage({ clock })) {
  const waiting: ((response: Response) => void)[] = [];
  let sent = 0;
  let refused = 0;
  const watched: KeyValueStorage = {
    ...storage,
    set: async (key, value, options) => {
      const done = await storage.set(key, value, options);
      if (!done && key.includes("image-lease:")) refused += 1;
      return done;
    },
  };
  const fetch = (request: Request) => {
    sent += 1;
    return new Promise<Response>((resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
      waiting.push(resolve);
    });
  };
  const client = (hooks: Hooks = {}) =>
    new PodPartner({ baseUrl, secretKey, fetch, storage: watched, clock, retry: { retries: 0 }, hooks });
  return {
    clock,
    client,
    storage,
    sent: () => sent,
    respond: (status = 200) =>
      waiting.shift()?.(
        Response.json(status === 200 ? { image: { reference } } : { code: "x", message: "x" }, { status }),
      ),
    /** Waits until this many requests were sent. */
    until: (count: number) =>
      expect
        .poll(
          async () => {
            await clock.advance(10);
            return sent;
          },
          { interval: 5 },
        )
        .toBe(count),
    /** Waits until a client has found that another one holds the lease. */
    untilRefused: () => expect.poll(() => refused, { interval: 5 }).toBeGreaterThan(0),
  };
}

describe("the same content at the same moment", () => {
  // The platform hashes in a thread: the clock would pass the time limit of the storage's operations meanwhile.
  beforeEach(() => {
    const digest = async (_: unknown, data: Uint8Array) =>
      Uint8Array.from(createHash("sha256").update(data).digest()).buffer;
    vi.spyOn(crypto.subtle, "digest").mockImplementation(digest as typeof crypto.subtle.digest);
  });
  afterEach(() => void vi.restoreAllMocks());

  it("is sent once by the calls of one client", async () => {
    const service = connect();
    const { images } = service.client();
    const calls = Array.from({ length: 5 }, () => images.uploadOnce(png));
    await service.until(1);
    await service.clock.advance(100);
    service.respond();
    const results = await Promise.all(calls);
    expect(results.filter(({ uploaded }) => uploaded)).toEqual([{ reference, uploaded: true }]);
    expect(results.every((one) => one.reference === reference)).toBe(true);
    expect(service.sent()).toBe(1);
  });

  it("is sent by another call if the one that sends it is aborted", async () => {
    const service = connect();
    const { images } = service.client();
    const abort = new AbortController();
    const first = rejection(images.uploadOnce(png, { signal: abort.signal }));
    await service.until(1);
    const others = [images.uploadOnce(png), images.uploadOnce(png)];
    await service.clock.advance(10);
    abort.abort("enough");
    expect(await first).toBe("enough");
    await service.until(2);
    service.respond();
    service.respond();
    expect((await Promise.all(others)).map(({ uploaded }) => uploaded).sort()).toEqual([false, true]);
    expect(service.sent()).toBe(2);
  });

  it("goes on if another call that waits for it is aborted", async () => {
    const service = connect();
    const { images } = service.client();
    const first = images.uploadOnce(png);
    await service.until(1);
    const abort = new AbortController();
    const second = rejection(images.uploadOnce(png, { signal: abort.signal }));
    await service.clock.advance(10);
    abort.abort("enough");
    expect(await second).toBe("enough");
    service.respond();
    expect(await first).toEqual({ reference, uploaded: true });
  });

  it("is sent by each call with its own options if it fails, and each error has its caller's line", async () => {
    const service = connect();
    const { images } = service.client();
    // The caller's own function, which awaits the call.
    const upload = async () => await images.uploadOnce(png);
    const failed = [rejection(upload()), rejection(upload())];
    for (let count = 1; count <= 2; count += 1) {
      await service.until(count);
      service.respond(403);
    }
    const errors = await Promise.all(failed);
    expect(errors).toMatchObject([{ name: "PermissionDeniedError" }, { name: "PermissionDeniedError" }]);
    expect(errors[0]).not.toBe(errors[1]);
    for (const error of errors) expect((error as Error).stack).toContain("upload-once-shared.test.ts");
  });

  it("is sent once by two clients of one storage: the second polls for the image of the first", async () => {
    const service = connect();
    const first = service.client().images.uploadOnce(png);
    await service.until(1);
    const pauses: unknown[] = [];
    const hooks: Hooks = { onPause: (pause) => void pauses.push(pause) };
    const second = service.client(hooks).images.uploadOnce(png, { callId: "second" });
    await service.untilRefused();
    await service.clock.advance(20_000);
    expect(service.sent()).toBe(1);
    expect(pauses).toEqual([
      { callId: "second", endpoint: "POST /images", reason: "other-process", policy: "default", length: 0 },
    ]);
    service.respond();
    expect(await first).toEqual({ reference, uploaded: true });
    expect(await settle(service.clock, second, 100)).toEqual({ reference, uploaded: false });
    expect(service.sent()).toBe(1);
    expect(service.clock.pending).toBe(0);
  });

  it("is sent by the second client if the first fails", async () => {
    const service = connect();
    const first = rejection(service.client().images.uploadOnce(png));
    await service.until(1);
    const second = service.client().images.uploadOnce(png);
    await service.untilRefused();
    await service.clock.advance(1_000);
    service.respond(403);
    expect(await first).toMatchObject({ status: 403 });
    await service.until(2);
    service.respond();
    expect(await second).toEqual({ reference, uploaded: true });
  });

  it("is sent by the second client after 10 s if the process of the first died", async () => {
    const service = connect();
    const dead = connect(createManualClock(), service.storage);
    void dead
      .client()
      .images.uploadOnce(png)
      .catch(() => undefined);
    await dead.until(1);
    const second = service.client().images.uploadOnce(png);
    await service.untilRefused();
    await service.clock.advance(5_000);
    expect(service.sent()).toBe(0);
    await service.clock.advance(6_000);
    await service.until(1);
    service.respond();
    expect(await second).toEqual({ reference, uploaded: true });
  });

  it("is sent by the second client after a minute if the first still sends it", async () => {
    const service = connect();
    const first = service.client().images.uploadOnce(png, { timeout: 300_000 });
    await service.until(1);
    const second = service.client().images.uploadOnce(png);
    await service.untilRefused();
    await service.clock.advance(59_000);
    expect(service.sent()).toBe(1);
    await service.clock.advance(2_000);
    expect(service.sent()).toBe(2);
    service.respond();
    service.respond();
    expect([await first, await second].map(({ uploaded }) => uploaded)).toEqual([true, true]);
    expect(service.clock.pending).toBe(0);
  });

  it.each(["signal", "deadline"] as const)("a wait for another process ends with the %s", async (end) => {
    const service = connect();
    void service
      .client()
      .images.uploadOnce(png)
      .catch(() => undefined);
    await service.until(1);
    const before = service.clock.pending;
    const abort = new AbortController();
    const options = end === "signal" ? { signal: abort.signal } : { deadline: 2_000 };
    const waiting = rejection(service.client().images.uploadOnce(png, options));
    await service.untilRefused();
    await service.clock.advance(1_000);
    abort.abort("enough");
    await service.clock.advance(1_000);
    const error = await waiting;
    if (end === "signal") expect(error).toBe("enough");
    else expect(error).toMatchObject({ name: "DeadlineError", endpoint: "POST /images" });
    expect([service.sent(), service.clock.pending]).toEqual([1, before]);
  });

  it.each([true, false])("leaves no lock when it is aborted before it has one: that comes later: %s", async (comes) => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const asked = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    const leases: boolean[] = [];
    const set: KeyValueStorage["set"] = async (key, ...given) => {
      if (!key.includes("image-lease:")) return storage.set(key, ...given);
      asked.resolve();
      await slow.promise;
      leases.push(comes && (await storage.set(key, ...given)));
      return leases.at(-1) === true;
    };
    const service = connect(clock, { ...storage, set });
    const abort = new AbortController();
    const call = rejection(service.client().images.uploadOnce(png, { signal: abort.signal }));
    await asked.promise;
    abort.abort("enough");
    expect(await call).toBe("enough");
    slow.resolve();
    await expect.poll(() => clock.pending, { interval: 5 }).toBe(0);
    expect(leases).toContain(comes);
    const keys: string[] = [];
    for await (const key of storage.keys("")) keys.push(key);
    expect([keys, service.sent()]).toEqual([[], 0]);
  });
});
