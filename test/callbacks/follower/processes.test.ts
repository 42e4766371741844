import type { KeyValueStorage } from "pod-partner";
import { describe, expect, it } from "vitest";
import { settled } from "../support.ts";
import { createWorld, first, settle } from "./support.ts";

describe("two processes with one storage", () => {
  it("hand over each change once, one after the other", async () => {
    const { clock, service, follower, handed } = createWorld();
    let running = 0;
    const onChange = async () => {
      running += 1;
      expect(running).toBe(1);
      await settled();
      running -= 1;
    };
    const [one, other] = [follower({ onChange }), follower({ onChange })];
    service.ship(first, [1]);
    await settle(clock, Promise.all([one.update(first), other.update(first)]));
    expect(handed).toHaveLength(1);
  });

  it("hand over nothing older after something newer when the first one is suspended between read and handler", async () => {
    const { clock, service, storage, follower, handed } = createWorld();
    const suspended = Promise.withResolvers<void>();
    const slowStorage: KeyValueStorage = {
      ...storage,
      // The process stops after its read, and renews nothing.
      set: async (key, value, options) => {
        if (!key.includes("lease") || options?.expected === null) return storage.set(key, value, options);
        await suspended.promise;
        return storage.set(key, value, options);
      },
    };
    service.ship(first, [1]);
    service.onRead = async ({ reference }) => {
      service.onRead = async () => undefined;
      const outdated = service.orders.get(reference);
      await suspended.promise;
      return outdated;
    };
    const slow = follower({ storage: slowStorage }).update(first);
    await settled();
    service.ship(first, [2]);
    service.hold(first, "no stock");
    await settle(clock, follower().update(first));
    suspended.resolve();
    await settle(clock, slow);
    expect(handed.map(({ shipped, held }) => [shipped[0], held])).toEqual([[2, true]]);
  });

  it("hand over nothing older after something newer when the first one is suspended just before its handler", async () => {
    const { clock, service, storage, follower, handed } = createWorld();
    const suspended = Promise.withResolvers<void>();
    const slowStorage: KeyValueStorage = {
      ...storage,
      set: async (key, value, options) => {
        const isSet = await storage.set(key, value, options);
        if (key.includes("open")) await suspended.promise;
        return isSet;
      },
    };
    service.ship(first, [1]);
    const stopped = { now: clock.now, after: () => () => undefined };
    const slow = follower({ storage: slowStorage, clock: stopped }).update(first);
    await settled();
    service.ship(first, [2]);
    service.hold(first, "no stock");
    await settle(clock, follower().update(first));
    suspended.resolve();
    await settle(clock, slow);
    expect(handed.map(({ shipped, held }) => [shipped[0], held])).toEqual([[2, true]]);
  });

  it("let the mark of another check stay when the order is complete: the next sweep reads it", async () => {
    const { clock, service, storage, follower, keys } = createWorld();
    await follower().update(first);
    let wasChecked = false;
    const checkedMeanwhile: KeyValueStorage = {
      ...storage,
      delete: async (key, options) => {
        if (key.includes("open") && !wasChecked) {
          wasChecked = true;
          await storage.set(key, new TextEncoder().encode(`{"v":1,"looked":${clock.now()}}`));
        }
        return storage.delete(key, options);
      },
    };
    service.ship(first, [3], [3]);
    const update = follower({ storage: checkedMeanwhile }).update(first);
    await settle(clock, update);
    expect(wasChecked).toBe(true);
    expect(service.reads.length).toBeGreaterThan(2);
    expect(await keys()).not.toContain(`open:${first}`);
  });

  it("let the process that was suspended while it read check the order again, also without news", async () => {
    const { clock, service, follower, handed } = createWorld();
    await follower().update(first);
    const suspended = Promise.withResolvers<void>();
    service.onRead = async ({ reference }) => {
      service.onRead = async () => undefined;
      const outdated = service.orders.get(reference);
      await suspended.promise;
      return outdated;
    };
    const stopped = { now: clock.now, after: () => () => undefined };
    const slow = follower({ clock: stopped }).update(first);
    await settled();
    expect(await settle(clock, follower().update(first))).toBe("unchanged");
    suspended.resolve();
    expect(await settle(clock, slow)).toBe("unchanged");
    expect([service.reads.length, handed.length]).toEqual([4, 1]);
  });

  it("let the process that lost its lock in the handler check again, and it hands over nothing twice", async () => {
    const { clock, service, storage, follower, handed } = createWorld();
    const gate = Promise.withResolvers<void>();
    const lost: KeyValueStorage = {
      ...storage,
      set: async (key, value, options) =>
        key.includes("lease") && options?.expected ? false : storage.set(key, value, options),
    };
    let calls = 0;
    const slow = follower({
      storage: lost,
      timeout: 60_000,
      onChange: () => {
        calls += 1;
        return gate.promise;
      },
    }).update(first);
    await settled();
    service.ship(first, [1]);
    await settle(clock, follower().update(first));
    gate.resolve();
    await settle(clock, slow);
    expect(calls).toBe(1);
    expect(handed.map(({ shipped }) => shipped[0])).toEqual([1, 0]);
    await settle(clock, follower().update(first));
    expect(handed).toHaveLength(2);
  });

  it("take the lock of a process that was killed after some seconds", async () => {
    const { clock, storage, follower, handed } = createWorld();
    const dead: KeyValueStorage = { ...storage };
    const killed = follower({ storage: dead, onChange: () => new Promise(() => undefined) });
    void killed.update(first).catch(() => undefined);
    await settled();
    dead.set = () => new Promise(() => undefined);
    Object.assign(dead, { delete: () => new Promise(() => undefined) });
    const began = clock.now();
    await settle(clock, follower().update(first));
    expect(handed).toHaveLength(1);
    expect(clock.now() - began).toBeLessThanOrEqual(6_000);
  });

  it("give up with a typed error when another process has the lock for longer than `timeout`", async () => {
    const { clock, follower } = createWorld();
    const gate = Promise.withResolvers<void>();
    const slow = follower({ timeout: 60_000, onChange: () => gate.promise }).update(first);
    await settled();
    const refused = expect(settle(clock, follower({ timeout: 2_000 }).update(first))).rejects.toMatchObject({
      fault: "busy",
      isRetryable: true,
    });
    await refused;
    gate.resolve();
    await settle(clock, slow);
  });
});

describe("an older response in another process", () => {
  const outdated = "Mon, 02 Nov 2026 08:00:00 GMT";

  it("counts as newer when it has more units, whatever its `Date`", async () => {
    const { service, follower, handed } = createWorld();
    service.hold(first, "no stock");
    await follower().update(first);
    service.date = () => outdated;
    service.hold(first, null);
    service.ship(first, [2]);
    await follower().update(first);
    expect(handed.at(-1)?.changes).toEqual([{ kind: "shipped", index: 1, from: 0, to: 2 }, { kind: "released" }]);
  });

  it("is not acknowledged while each further response is older, too: the news may be in a later one", async () => {
    const { clock, service, follower, kinds } = createWorld();
    await follower().update(first);
    service.hold(first, "no stock");
    service.date = () => outdated;
    const other = follower();
    const refused = expect(settle(clock, other.update(first))).rejects.toMatchObject({ fault: "outdated" });
    await refused;
    expect(kinds()).toEqual([["status"]]);
    service.date = () => new Date(clock.now()).toUTCString();
    await other.update(first);
    expect(kinds()).toEqual([["status"], ["held"]]);
  });

  it("is read once more: the next response is newer in nearly all cases", async () => {
    const { service, follower, kinds } = createWorld();
    await follower().update(first);
    service.hold(first, "no stock");
    const dates = [outdated, "Mon, 02 Nov 2026 09:00:01 GMT"];
    service.date = () => dates.shift() ?? null;
    await follower().update(first);
    expect(kinds().at(-1)).toEqual(["held"]);
  });

  it("counts as newer in the process that read the earlier one, whatever its `Date`", async () => {
    const { service, follower, kinds } = createWorld();
    const { update } = follower();
    await update(first);
    service.hold(first, "no stock");
    service.date = () => outdated;
    await update(first);
    expect(kinds().at(-1)).toEqual(["held"]);
    expect(service.reads).toHaveLength(2);
  });

  it("does not follow in a process whose clock is behind, as after the machine was suspended", async () => {
    const { clock, service, follower, kinds } = createWorld();
    await follower().update(first);
    await clock.advance(5_000);
    service.hold(first, "no stock");
    const behind = { now: () => clock.now() - 3_600_000, after: clock.after.bind(clock) };
    await follower({ clock: behind }).update(first);
    expect(kinds()).toEqual([["status"], ["held"]]);
  });

  it("does not follow from a `Date` far in the future, or from none", async () => {
    const { clock, service, follower, kinds } = createWorld();
    service.date = () => "Fri, 01 Jan 2100 00:00:00 GMT";
    await follower().update(first);
    await clock.advance(300_001);
    service.date = () => new Date(clock.now()).toUTCString();
    service.hold(first, "no stock");
    await clock.advance(1_000);
    await follower().update(first);
    service.date = () => null;
    service.hold(first, null);
    await follower().update(first);
    expect(kinds()).toEqual([["status"], ["held"], ["released"]]);
  });
});
