import { getEventListeners } from "node:events";
import { type Download, PodPartner } from "pod-partner";
import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { concurrently } from "../../src/util/concurrency.ts";
import { createFastClock } from "../support/fast-clock.ts";
import { harsh } from "../support/harsh.ts";
import { watchSockets, watchTimers } from "../support/open-handles.ts";
import { transports } from "../support/transports.ts";
import { productPicture } from "../support/waits.ts";
import { orderOf } from "./matrix/subjects.ts";

/** The name of the error that ends the reading of a download. */
const failure = (download: Download) =>
  download.bytes().then(
    () => "none",
    (error: Error) => error.name,
  );

describe.each(transports)("over $name", ({ over }) => {
  let emulator: RunningEmulator;
  const connect = (timeout: number) =>
    new PodPartner({
      baseUrl: emulator.baseUrl,
      secretKey: emulator.secretKey,
      timeout,
      retry: { retries: 2, baseDelay: 0 },
      clock: createFastClock(timeout),
      ...over,
    });
  beforeEach(async () => {
    emulator = await startEmulator({ ...harsh, limits: { default: { quota: 1_000_000, window: 60_000 } } });
  });
  afterEach(() => emulator.close());

  it("100 calls on one long-lived signal, a quarter of them with faults, leave no listener, no timer and no socket", async () => {
    using timers = watchTimers();
    using sockets = watchSockets();
    emulator.faults.add({ nth: (n) => n % 10 === 3, fault: "drop" });
    emulator.faults.add({ nth: (n) => n % 10 === 6, fault: "status", status: 503 });
    emulator.faults.add({ nth: (n) => n % 100 === 9, fault: "stall" });
    const { signal } = new AbortController();
    const partner = connect(100);
    const calls = Array.from({ length: 100 }, (_, number) => number);
    const call = async (number: number): Promise<unknown> => {
      if (number % 4 > 0) return await partner.organization.stores.list({ signal });
      return await partner.orders.create(orderOf(emulator, `shop-${number}`), { signal });
    };
    let seen = 0;
    for await (const _ of concurrently(calls, 20, call)) seen += 1;
    expect(seen).toBe(100);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(timers.open).toBe(0);
    // The sockets that the platform keeps open for the next call close with the server.
    await emulator.close();
    await expect.poll(() => sockets.open).toBe(0);
  });

  it("50 unread downloads do not block the 51st call, and end at their timeout", async () => {
    using sockets = watchSockets();
    const { slimCase } = emulator.demo.products;
    emulator.faults.add({
      on: "catalog.products.media",
      fault: "body",
      body: new Uint8Array(200_000),
      type: "image/png",
    });
    const partner = connect(6_000);
    const download = () => partner.catalog.products.media(slimCase, productPicture);
    const unread = await Promise.all(Array.from({ length: 50 }, download));
    expect(await partner.auth.validate()).toHaveProperty("message");
    // Only the socket of the 51st call may be kept for the next.
    await expect.poll(() => sockets.used).toBeLessThanOrEqual(1);
    for (const each of unread) expect(await failure(each)).toBe("RequestTimeoutError");
  });

  it("cancelling a download frees its socket at once", async () => {
    using sockets = watchSockets();
    const { slimCase } = emulator.demo.products;
    emulator.faults.add({ on: "catalog.products.media", fault: "stall" });
    const { signal } = new AbortController();
    const download = await connect(60_000).catalog.products.media(slimCase, productPicture, { signal });
    expect(sockets.used).toBe(1);
    await download.cancel();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await expect.poll(() => sockets.used).toBe(0);
  });
});
