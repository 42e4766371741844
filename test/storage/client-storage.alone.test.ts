import type { KeyValueStorage } from "pod-partner";
import { memoryStorage } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { ClientStorage } from "../../src/storage/client-storage.ts";
import { ScopedStorage } from "../../src/storage/scoped-storage.ts";
import { bytes, text } from "./storages.ts";

type Operation = "get" | "set" | "delete";

const never = () => new Promise<never>(() => undefined);

let clock = createManualClock();
let reports: string[] = [];
beforeEach(() => {
  clock = createManualClock();
  reports = [];
});

/** A client's view of a storage with faults. */
function guard(faults: Partial<Record<Operation, (...values: never[]) => unknown>>) {
  const storage = { ...memoryStorage({ clock }), ...faults } as KeyValueStorage;
  const client = new ClientStorage(new ScopedStorage(storage, "scope"), clock, {
    onLost: (reason) => void reports.push(`lost: ${reason}`),
    onBack: () => void reports.push("back"),
  });
  return { storage, client };
}

/** Runs an operation while the time passes. */
async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | "pending"> {
  let result: Result | "pending" = "pending";
  void work.then((value) => {
    result = value;
  });
  await clock.advance(ms);
  return result;
}

const faults: Record<string, () => unknown> = {
  "that throws": () => {
    throw new Error("no disk");
  },
  "that throws a value that is not an error": () => {
    throw undefined;
  },
  "that rejects": async () => {
    throw new Error("no disk");
  },
  "that never resolves": never,
  "that resolves to nonsense": async () => 42,
  "that returns nonsense": () => ({}),
};

describe.each(Object.entries(faults))("a storage %s", (_, fault) => {
  it("counts as empty, and is reported once", async () => {
    const { client } = guard({ get: fault, set: fault, delete: fault });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.get("key"),
      () => client.set("key", bytes("value")),
      () => client.delete("key"),
      () => client.set("key", bytes("value"), { expected: null }),
    ];
    for (const call of [...calls, ...calls]) {
      expect(await within(1_000, call())).toBeUndefined();
      await clock.advance(300);
    }
    expect(reports).toEqual([expect.stringMatching(/^lost: ./)]);
    expect(clock.pending).toBe(0);
  });
});

describe("a lost storage", () => {
  it("is left alone for a second, then one operation tries it, and the first success is reported", async () => {
    let works = false;
    let calls = 0;
    const { client } = guard({
      get: async () => {
        calls += 1;
        return works ? undefined : never();
      },
    });
    expect(await within(999, client.get("key"))).toBe("pending");
    await clock.advance(1);
    expect(reports).toEqual(["lost: no result within 1000 ms"]);
    expect(await within(0, client.get("key"))).toBeUndefined();
    expect(calls).toBe(1);
    await clock.advance(1_000);
    const many = Promise.all(Array.from({ length: 50 }, () => client.get("key")));
    await clock.advance(1_000);
    await many;
    expect(calls).toBe(2);
    works = true;
    await clock.advance(1_000);
    await client.get("key");
    await client.get("key");
    expect(calls).toBe(4);
    expect(reports).toEqual(["lost: no result within 1000 ms", "back"]);
    expect(clock.pending).toBe(0);
  });

  it("is not back because an operation succeeds that began before the failure", async () => {
    const slow = Promise.withResolvers<Uint8Array | undefined>();
    const { client } = guard({
      get: () => slow.promise,
      delete: async () => {
        throw new Error("no disk");
      },
    });
    const get = client.get("key");
    expect(await client.delete("key")).toBeUndefined();
    slow.resolve(undefined);
    await get;
    expect(reports).toEqual(["lost: no disk"]);
  });

  it("is not back because a change succeeds that began before a read failed", async () => {
    const slow = Promise.withResolvers<boolean>();
    let full = true;
    let reads = 0;
    const { client } = guard({
      set: async () => {
        if (full) throw new Error("no space");
        return slow.promise;
      },
      get: async () => {
        reads += 1;
        throw new Error("no disk");
      },
    });
    await client.set("key", bytes("value"));
    full = false;
    await clock.advance(1_000);
    const set = client.set("key", bytes("value"));
    await client.get("key");
    slow.resolve(true);
    expect(await set).toBe(true);
    expect(reports).toEqual(["lost: no space"]);
    await client.get("key");
    expect(reads).toBe(1);
  });

  it("causes no unhandled rejection when a result comes too late", async () => {
    const late = Promise.withResolvers<never>();
    const { client } = guard({ get: () => late.promise });
    expect(await within(1_000, client.get("key"))).toBeUndefined();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    late.reject(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("a storage with few connections", () => {
  /** Its `get` waits for one of `connections`, then takes `ms`. The key `stuck` never gives its connection back. */
  function pool(connections: number, ms: number) {
    let free = connections;
    const waiting: (() => void)[] = [];
    const get = async (key: string) => {
      if (free === 0) await new Promise<void>((resolve) => void waiting.push(resolve));
      else free -= 1;
      if (key.endsWith("stuck")) await never();
      await new Promise<void>((resolve) => void clock.after(ms, resolve));
      if (waiting.length > 0) waiting.shift()?.();
      else free += 1;
      return undefined;
    };
    return guard({ get }).client;
  }

  it("is not lost because operations wait for a connection that others use", async () => {
    const client = pool(10, 300);
    const found = Promise.all(Array.from({ length: 64 }, (_, index) => client.find(`key${index}`)));
    expect(await within(2_500, found)).toEqual(Array.from({ length: 64 }));
    expect([reports, clock.pending]).toEqual([[], 0]);
  });

  it("is lost a second after the last result, also for operations that had waited before", async () => {
    const client = pool(1, 300);
    const found = Promise.all(["one", "two", "stuck", "three"].map((key) => client.find(key)));
    await clock.advance(1_500);
    expect(reports).toEqual([]);
    expect(await within(600, found)).toEqual([undefined, undefined, "lost", "lost"]);
    expect(reports).toEqual(["lost: no result within 2000 ms"]);
  });

  it("is lost for an operation that has no result after five seconds, although others succeed", async () => {
    const client = pool(2, 10);
    const stuck = client.find("stuck");
    for (let ms = 0; ms < 4_900; ms += 100) {
      expect(await within(100, client.find("key"))).toBeUndefined();
      expect(reports).toEqual([]);
    }
    expect(await within(100, stuck)).toBe("lost");
    expect(reports).toEqual(["lost: no result within 5000 ms"]);
  });
});

describe("a process that is busy", () => {
  /** A clock whose timers are late, as those of a process whose event loop is blocked. */
  function lateClock() {
    let now = 0;
    const timers = new Map<() => void, number>();
    const block = (ms: number) => {
      now += ms;
      for (const [callback, due] of [...timers]) {
        if (due > now) continue;
        timers.delete(callback);
        callback();
      }
    };
    const after = (ms: number, callback: () => void) => {
      timers.set(callback, now + ms);
      return () => timers.delete(callback);
    };
    return { now: () => now, after, block };
  }

  it("uses a result that came while its event loop was blocked, also twice", async () => {
    const late = lateClock();
    const reply = Promise.withResolvers<Uint8Array>();
    const storage = { ...memoryStorage(), get: () => reply.promise };
    const client = new ClientStorage(storage, late, {
      onLost: (reason) => void reports.push(reason),
      onBack: () => void reports.push("back"),
    });
    const value = client.get("key");
    late.block(1_500);
    await Promise.resolve();
    late.block(60_000);
    // The event loop reads what is in the socket after its timers.
    reply.resolve(bytes("value"));
    expect(text(await value)).toBe("value");
    expect(reports).toEqual([]);
  });
});

describe("a full storage", () => {
  it("still gives what it holds, and is reported once until a change succeeds", async () => {
    let full = false;
    const inner = memoryStorage({ clock });
    const { client } = guard({
      ...inner,
      set: async (...given: Parameters<KeyValueStorage["set"]>) => {
        if (full) throw new Error("no space");
        return inner.set(...given);
      },
    });
    await client.set("key", bytes("value"));
    full = true;
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await client.set("other", bytes("value"))).toBeUndefined();
      expect(text(await client.get("key"))).toBe("value");
      await clock.advance(1_000);
    }
    expect(reports).toEqual(["lost: no space"]);
    full = false;
    expect(await client.set("other", bytes("value"))).toBe(true);
    expect(reports).toEqual(["lost: no space", "back"]);
  });

  it("is lost for reads, too, when a read fails", async () => {
    let reads = 0;
    const fail = async () => {
      throw new Error("no disk");
    };
    const get = () => {
      reads += 1;
      return fail();
    };
    const { client } = guard({ get, set: fail });
    await client.set("key", bytes("value"));
    await client.get("key");
    await client.get("key");
    expect([reads, reports]).toEqual([1, ["lost: no disk"]]);
  });
});

describe("a storage of your own", () => {
  it("can give a Buffer, bytes of another realm, or null for nothing", async () => {
    const { client, storage } = guard({});
    await client.set("key", bytes("value"));
    const sealed = await storage.get("pod-partner:{scope}:key");
    for (const held of [Buffer.from(sealed ?? []), new DataView((sealed ?? new Uint8Array()).buffer)]) {
      expect(text(await guard({ get: async () => held }).client.get("key"))).toBe("value");
    }
    expect(await guard({ get: async () => null }).client.get("key")).toBeUndefined();
    expect(reports).toEqual([]);
  });

  it.each([
    ["OK", "string"],
    [null, "null"],
  ])("that does not say whether it changed a key, but gives %j, takes no lease", async (result, kind) => {
    const { client } = guard({ set: async () => result });
    expect(await client.set("key", bytes("value"), { expected: null })).toBeUndefined();
    expect(reports).toEqual([
      `lost: \`set\` and \`delete\` of the storage must resolve to true or false; they resolved to ${kind}`,
    ]);
  });

  it("is told what `get` must resolve to when it gives something else", async () => {
    const { client } = guard({ get: async () => 42 });
    expect(await client.get("key")).toBeUndefined();
    expect(reports).toEqual([
      "lost: `get` of the storage must resolve to a Uint8Array or undefined; it resolved to number",
    ]);
  });
});

it("a value that is damaged or under another key counts as absent, and is deleted", async () => {
  const { client, storage } = guard({});
  await client.set("key", bytes("value"));
  const sealed = (await storage.get("pod-partner:{scope}:key")) ?? new Uint8Array();
  const damaged = [sealed.subarray(0, 10), sealed.subarray(0, 3), new Uint8Array(), sealed.map((byte) => byte ^ 1)];
  for (const [index, value] of [...damaged, sealed].entries()) {
    await storage.set(`pod-partner:{scope}:other${index}`, value);
    expect(await client.get(`other${index}`)).toBeUndefined();
    expect(await client.set(`other${index}`, bytes("new"), { expected: null })).toBe(true);
  }
  expect(text(await client.get("key"))).toBe("value");
  expect(reports).toEqual([]);
});

it("a damaged value is not deleted when another process has replaced it meanwhile", async () => {
  const { client, storage } = guard({});
  await client.set("key", bytes("new"));
  const outdated = guard({ ...storage, get: async () => bytes("damaged") });
  expect(await outdated.client.get("key")).toBeUndefined();
  expect(text(await client.get("key"))).toBe("new");
});

describe("a change that must not be lost, in a storage that takes no changes for a while", () => {
  /** Two clients of one storage. The first one's changes fail while `down`. */
  function shared() {
    const storage = memoryStorage({ clock });
    const state = { down: true };
    const set: KeyValueStorage["set"] = async (...given) => {
      if (state.down) throw new Error("no space");
      return storage.set(...given);
    };
    const { client } = guard({ ...storage, set } as never);
    const { client: other } = guard(storage as never);
    /** The storage takes changes again, and a change shows it. */
    const back = async () => {
      state.down = false;
      await clock.advance(1_000);
      await client.set("another", bytes("value"));
      await clock.advance(10);
    };
    return { client, other, back };
  }
  const found = async (client: ClientStorage, key: string) => text((await client.find(key)) as Uint8Array);

  it("is found by its client, and written with all others when the storage is back", async () => {
    const { client, other, back } = shared();
    for (const key of ["one", "two", "three"]) await client.keep(key, bytes(`value of ${key}`));
    expect(await found(client, "two")).toBe("value of two");
    expect(await other.find("two")).toBeUndefined();
    await back();
    for (const key of ["one", "two", "three"]) expect(await found(other, key)).toBe(`value of ${key}`);
  });

  it("no longer hides the storage when it is written", async () => {
    const { client, other, back } = shared();
    await client.keep("key", bytes("kept"));
    await back();
    await other.keep("key", bytes("newer"));
    expect(await found(client, "key")).toBe("newer");
    expect(await found(other, "key")).toBe("newer");
  });

  it("stays when an earlier change of the same key is written after it has failed", async () => {
    const storage = memoryStorage({ clock });
    const first = Promise.withResolvers<void>();
    const writes = [() => first.promise, () => Promise.reject(new Error("no space"))];
    const set: KeyValueStorage["set"] = async (...given) => {
      await writes.shift()?.();
      return storage.set(...given);
    };
    const { client } = guard({ ...storage, set } as never);
    const earlier = client.keep("key", bytes("earlier"));
    await client.keep("key", bytes("later"));
    first.resolve();
    await earlier;
    expect(await found(client, "key")).toBe("later");
    await clock.advance(1_000);
    expect(await found(client, "key")).toBe("later");
    expect(await found(guard(storage as never).client, "key")).toBe("later");
  });

  it("is written although its client makes no other call: once a second, until the storage takes it", async () => {
    const storage = memoryStorage({ clock });
    const tries: string[] = [];
    let down = true;
    const noted =
      <Given extends [key: string, ...unknown[]]>(change: (...given: Given) => Promise<boolean>) =>
      async (...given: Given) => {
        tries.push(`${given[0].split(":").at(-1)} at ${clock.now() - began}`);
        if (down) throw new Error("no space");
        return change(...given);
      };
    const { client } = guard({ ...storage, set: noted(storage.set), delete: noted(storage.delete) } as never);
    const { client: other } = guard(storage as never);
    await other.set("deleted", bytes("value"));
    const began = clock.now();
    await client.keep("one", bytes("value of one"));
    await client.keep("deleted", undefined);
    expect(await client.find("deleted")).toBeUndefined();
    await clock.advance(2_500);
    expect(tries).toEqual(["one at 0", "one at 1000", "one at 2000"]);
    down = false;
    await clock.advance(500);
    expect(await found(other, "one")).toBe("value of one");
    expect(await other.get("deleted")).toBeUndefined();
    expect(clock.pending).toBe(0);
    // The next failure is followed by the same.
    down = true;
    await client.keep("two", bytes("value of two"));
    down = false;
    await clock.advance(1_000);
    expect(await found(other, "two")).toBe("value of two");
    expect(clock.pending).toBe(0);
  });

  it("does not keep the process alive until it is written", async () => {
    const kept: boolean[] = [];
    const after = (ms: number, callback: () => void) =>
      Object.assign(clock.after(ms, callback), { keep: (alive: boolean) => void kept.push(alive) });
    const storage = { ...memoryStorage({ clock }), set: () => Promise.reject(new Error("no space")) };
    const client = new ClientStorage(storage, { ...clock, after }, { onLost: () => {}, onBack: () => {} });
    await client.keep("key", bytes("value"));
    expect(kept).toEqual([false]);
  });

  it("is not written later when the storage took it at once", async () => {
    const { client } = guard({});
    await client.keep("key", bytes("value"));
    expect(clock.pending).toBe(0);
  });
});

describe("a condition of a change", () => {
  it("is compared with the value that the storage holds", async () => {
    const { client } = guard({});
    expect(await client.set("key", bytes("one"), { expected: bytes("none") })).toBe(false);
    expect(await client.set("key", bytes("one"))).toBe(true);
    expect(await client.set("key", bytes("two"), { expected: bytes("none") })).toBe(false);
    expect(await client.set("key", bytes("two"), { expected: bytes("one"), ttl: 1_000 })).toBe(true);
    expect(await client.delete("key", { expected: bytes("one") })).toBe(false);
    expect(text(await client.get("key"))).toBe("two");
    await clock.advance(1_000);
    expect(await client.get("key")).toBeUndefined();
    await client.set("key", bytes("three"));
    expect(await client.delete("key", { expected: bytes("three") })).toBe(true);
    expect(await client.get("key")).toBeUndefined();
  });

  it("is no field without a value: a storage may test for it with `in`", async () => {
    const given: unknown[] = [];
    const note = async (...all: unknown[]) => given.push(all.at(-1)) > 0;
    const { client } = guard({ set: note, delete: note });
    await client.set("key", bytes("value"), { ttl: 1_000 });
    await client.delete("key");
    expect(given).toEqual([{ ttl: 1_000 }, {}]);
    expect(given.map((options) => Object.hasOwn(options as object, "expected"))).toEqual([false, false]);
  });
});

describe("a check of the storage", () => {
  it("writes a value that expires after a minute, and says whether the storage took it", async () => {
    const storage = memoryStorage({ clock });
    let full = false;
    const set: KeyValueStorage["set"] = async (...given) => {
      if (full) throw new Error("no space");
      return storage.set(...given);
    };
    const { client } = guard({ ...storage, set } as never);
    expect(await client.check()).toBe(true);
    expect(text(await client.get("health"))).toBe("\u0001");
    await clock.advance(60_000);
    expect(await client.get("health")).toBeUndefined();
    full = true;
    expect(await client.check()).toBe(false);
    expect(client.lostBy).toMatchObject({ message: "no space" });
  });
});

describe("a storage that takes no changes", () => {
  it("is tried by a change each second, however many reads succeed between", async () => {
    const tries: number[] = [];
    const began = clock.now();
    const { client } = guard({
      set: async () => {
        tries.push(clock.now() - began);
        throw new Error("no space");
      },
    });
    for (let ms = 0; ms <= 2_000; ms += 250) {
      await client.get("key");
      await client.set("key", bytes("value"));
      await clock.advance(250);
    }
    expect(tries).toEqual([0, 1_000, 2_000]);
  });

  it("is not tried by a change while reads hang, too", async () => {
    let changes = 0;
    let reads: () => unknown = never;
    const { client } = guard({
      get: () => reads(),
      set: async () => {
        changes += 1;
        throw new Error("no space");
      },
    });
    await within(1_000, client.get("key"));
    expect(await client.set("key", bytes("value"))).toBeUndefined();
    expect([changes, reports]).toEqual([0, ["lost: no result within 1000 ms"]]);
    // A change that fails does not say that reads work: they are tried again only after another second.
    await clock.advance(1_000);
    await client.set("key", bytes("value"));
    reads = () => {
      throw new Error("read");
    };
    expect(await client.find("key")).toBe("lost");
    expect([changes, reports]).toEqual([1, ["lost: no result within 1000 ms"]]);
  });
});
