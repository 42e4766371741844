import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { ConfigurationError, DamagedStorageError, type PartnerClock, PodPartner } from "pod-partner";
import { type SqliteStorage, sqliteStorage } from "pod-partner/sqlite";
import { createEmulator, createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bytes, text, useFolder } from "../storage/storages.ts";
import { png } from "../support/pictures.ts";
import { settle } from "../support/settle.ts";

const folder = useFolder();
const opened: SqliteStorage[] = [];
const open = (path = folder.path("storage.db"), clock?: PartnerClock) => {
  const storage = sqliteStorage(path, { clock });
  opened.push(storage);
  return storage;
};
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((storage) => storage.close()));
});

describe("the file of a storage", () => {
  it("is readable only by its owner, with the files beside it", async () => {
    await open().set("key", bytes("value"));
    for (const name of ["storage.db", "storage.db-wal", "storage.db-shm"]) {
      expect(statSync(folder.path(name)).mode & 0o777).toBe(0o600);
    }
  });

  it("says which program and which version made it", async () => {
    await open().set("key", bytes("value"));
    using database = new DatabaseSync(folder.path("storage.db"));
    expect(database.prepare("PRAGMA application_id").get()).toEqual({ application_id: 0x706f6470 });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database.prepare("PRAGMA page_size").get()).toEqual({ page_size: 16_384 });
  });

  it("keeps what was set when the storage is closed and opened again, in its place at the time of the call", async () => {
    const path = folder.path("storage.db");
    const storage = open();
    const set = storage.set("key", bytes("value"));
    await storage.close();
    expect(await set).toBe(true);
    await expect(storage.get("key")).rejects.toThrow("the storage is closed");
    expect(text(await open(path).get("key"))).toBe("value");
  });

  it("is none for :memory:, and each storage has its own", async () => {
    const clock = createManualClock();
    const storage = open(":memory:", clock);
    await storage.set("key", bytes("value"));
    await clock.advance(5_000);
    expect(text(await storage.get("key"))).toBe("value");
    expect(await open(":memory:").get("key")).toBeUndefined();
    expect(existsSync(":memory:")).toBe(false);
  });

  it("does not grow when values run out", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const storage = open();
    const value = new Uint8Array(2_000);
    for (let index = 0; index < 3_000; index += 1) {
      await storage.set(`key:${index}`, value, { ttl: 1_000 });
      vi.setSystemTime(Date.now() + 10);
    }
    vi.useRealTimers();
    using database = new DatabaseSync(folder.path("storage.db"));
    const { count } = database.prepare("SELECT count(*) AS count FROM entries").get() ?? {};
    expect(Number(count)).toBeLessThan(250);
  });

  it("is created again when it was deleted or replaced", async () => {
    const clock = createManualClock();
    const storage = open(undefined, clock);
    await storage.set("key", bytes("old"));
    const other = open(folder.path("other.db"));
    await other.set("key", bytes("new"));
    await other.close();
    for (const name of ["storage.db", "storage.db-wal", "storage.db-shm"]) rmSync(folder.path(name));
    renameSync(folder.path("other.db"), folder.path("storage.db"));
    await clock.advance(5_000);
    expect(text(await storage.get("key"))).toBe("new");
  });
});

describe("a path that cannot be that of a storage", () => {
  it.each([
    ["", "expected the path of a file"],
    [42, "expected the path of a file"],
    ["/no/such/folder/storage.db", "there is no folder /no/such/folder; create it first"],
    ["/", "/ is a folder; expected the path of a file"],
    ["x".repeat(1_000_000), "is too long"],
    ["x".repeat(241), "is too long"],
    ["/tmp/\0", "null character"],
  ])("is refused at once: %#", (path, message) => {
    expect(() => sqliteStorage(path as never)).toThrow(ConfigurationError);
    expect(() => sqliteStorage(path as never)).toThrow(message);
  });

  it("is at most as long as SQLite can open", async () => {
    const name = "n".repeat(240);
    await open(folder.path(name)).set("key", bytes("value"));
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(folder.path(name + suffix)).mode & 0o777).toBe(0o600);
    const deep = join(folder.path("d".repeat(200)), "e".repeat(190));
    mkdirSync(deep, { recursive: true });
    await open(join(deep, "n".repeat(499 - deep.length))).set("key", bytes("value"));
    expect(() => sqliteStorage(join(deep, "n".repeat(500 - deep.length)))).toThrow(ConfigurationError);
  });

  it("quotes no more of a long path than a message has room for", () => {
    const refused = () => sqliteStorage("x/".repeat(200_000));
    expect(refused).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{1,400}$/s) }));
  });

  it("is that of another program's database, which stays as it is", async () => {
    const path = folder.path("shop.db");
    {
      using database = new DatabaseSync(path);
      database.exec("CREATE TABLE entries (key TEXT)");
    }
    const before = readFileSync(path);
    await expect(open(path).get("key")).rejects.toThrow("is the database of another program");
    await expect(open(path).set("key", bytes("1"))).rejects.toThrow(ConfigurationError);
    expect(readFileSync(path)).toEqual(before);
  });

  it("is that of a newer version's file, which stays as it is", async () => {
    await open().set("key", bytes("value"));
    {
      using database = new DatabaseSync(folder.path("storage.db"));
      database.exec("PRAGMA user_version = 2");
    }
    await expect(open().get("key")).rejects.toThrow("a newer version of pod-partner wrote the file");
    using database = new DatabaseSync(folder.path("storage.db"));
    expect(database.prepare("SELECT key FROM entries").all()).toEqual([{ key: "key" }]);
  });

  it("is any path in a runtime without node:sqlite, and the error names the versions that have it", () => {
    const { getBuiltinModule } = process;
    vi.spyOn(process, "getBuiltinModule").mockImplementation((name: string) =>
      name === "node:sqlite" ? undefined : getBuiltinModule(name as "node:fs"),
    );
    const make = () => sqliteStorage(folder.path("storage.db"));
    expect(make).toThrow(
      expect.objectContaining({ name: "ConfigurationError", issues: [{ path: [], message: expect.any(String) }] }),
    );
    expect(make).toThrow(/Node [\d.]+ has no `node:sqlite`; use Node 22\.13, 23\.4 or newer, Deno 2\.2 or Bun 1\.4/);
  });

  it("comes with options: unknown ones and an empty organization are refused", () => {
    for (const options of [{ organisation: "shop" }, { organization: "" }, { organization: 1 }]) {
      expect(() => sqliteStorage(":memory:", options as never)).toThrow(ConfigurationError);
    }
  });
});

describe("a damaged file", () => {
  /** A file with two values, closed. */
  async function filled(): Promise<string> {
    const path = folder.path("storage.db");
    const storage = open(path);
    for (let index = 0; index < 300; index += 1) await storage.set(`key:${index}`, new Uint8Array(1_000).fill(index));
    await storage.close();
    return path;
  }
  async function readAll(storage: SqliteStorage): Promise<void> {
    for (let index = 0; index < 300; index += 1) await storage.get(`key:${index}`);
  }
  function overwrite(path: string, from: number, to: number): void {
    const handle = openSync(path, "r+");
    writeSync(handle, new Uint8Array(to - from).fill(0xa5), 0, to - from, from);
    closeSync(handle);
  }

  it.each<[string, (path: string) => void]>([
    ["is not a database", (path) => writeFileSync(path, "x".repeat(100_000))],
    ["has a damaged header", (path) => overwrite(path, 0, 100)],
    ["has a damaged schema", (path) => overwrite(path, 100, 4_096)],
    ["has damaged pages", (path) => overwrite(path, 4_096, 300_000)],
    ["was cut", (path) => truncateSync(path, 50_000)],
  ])("that %s is reported by a DamagedStorageError with its path, and stays as it is", async (_, damage) => {
    const path = await filled();
    damage(path);
    const damaged = readFileSync(path);
    const storage = open();
    // The damage may not show before the whole file is read.
    const error = await readAll(storage).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(DamagedStorageError);
    expect(error).toMatchObject({
      isRetryable: false,
      path,
      message: expect.stringContaining(path),
      cause: expect.objectContaining({ errcode: expect.any(Number) }),
    });
    await storage.close();
    expect(readFileSync(path)).toEqual(damaged);
  });

  it("is used again when a good file is in its place", async () => {
    const path = await filled();
    const storage = open();
    await storage.close();
    copyFileSync(path, folder.path("copy.db"));
    writeFileSync(path, "x".repeat(100_000));
    const next = open();
    await expect(next.get("key:7")).rejects.toThrow(DamagedStorageError);
    renameSync(folder.path("copy.db"), path);
    expect(await next.get("key:7")).toEqual(new Uint8Array(1_000).fill(7));
  });

  it("that many operations meet fails each of them", async () => {
    writeFileSync(folder.path("storage.db"), "x".repeat(10_000));
    const all = Array.from({ length: 8 }, (_, index) => open().set(`key:${index}`, bytes("value")));
    for (const set of all) await expect(set).rejects.toThrow(DamagedStorageError);
  });

  it("is a lost storage for a client, which names the file", async () => {
    writeFileSync(folder.path("storage.db"), "x".repeat(10_000));
    const lost: string[] = [];
    const emulator = createEmulator();
    const partner = new PodPartner({
      ...emulator.clientOptions,
      storage: open(),
      hooks: { onStorageLost: ({ reason }) => void lost.push(reason) },
    });
    const image = await partner.images.uploadOnce(png);
    expect(image).toMatchObject({ uploaded: true });
    expect(lost).toEqual([expect.stringContaining(folder.path("storage.db"))]);
  });
});

describe("a file that another process locks", () => {
  it("is waited for without blocking the process", async () => {
    const storage = open();
    await storage.set("key", bytes("1"));
    const database = new DatabaseSync(folder.path("storage.db"));
    database.exec("BEGIN IMMEDIATE");
    const set = storage.set("key", bytes("2"));
    // The timers of this process run while the storage waits.
    await new Promise((resolve) => setTimeout(resolve, 50));
    database.exec("COMMIT");
    database.close();
    expect(await set).toBe(true);
    expect(text(await storage.get("key"))).toBe("2");
  });

  it("fails an operation after ten seconds, and the next ones succeed when it is free", async () => {
    let time = 0;
    let step = 0;
    const storage = open(undefined, {
      now: () => {
        time += step;
        return time;
      },
      after: (_, callback) => {
        const timer = setImmediate(callback);
        return () => clearImmediate(timer);
      },
    });
    await storage.set("key", bytes("1"));
    using database = new DatabaseSync(folder.path("storage.db"));
    database.exec("BEGIN IMMEDIATE");
    step = 4_000;
    await expect(storage.set("key", bytes("2"))).rejects.toThrow("locks the file");
    step = 0;
    database.exec("COMMIT");
    expect(await storage.set("key", bytes("3"), { expected: bytes("1") })).toBe(true);
  });
});

describe("an error of SQLite", () => {
  /** A storage whose next changes fail. Its file was replaced, which shows only when it is opened again. */
  async function failing(errcode: number | undefined, times: number) {
    const clock = createManualClock();
    const pauses: number[] = [];
    const after: PartnerClock["after"] = (ms, callback) => {
      pauses.push(ms);
      return clock.after(ms, callback);
    };
    const storage = open(undefined, { now: clock.now, after });
    await storage.set("key", bytes("old"));
    const other = open(folder.path("other.db"));
    await other.set("key", bytes("new"));
    await other.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(folder.path(`storage.db${suffix}`));
    renameSync(folder.path("other.db"), folder.path("storage.db"));
    const run = vi.spyOn(StatementSync.prototype, "run");
    for (let time = 0; time < times; time += 1) {
      run.mockImplementationOnce(() => {
        throw Object.assign(new Error("faulty"), { errcode });
      });
    }
    const change = settle(clock, storage.delete("other"), 10);
    return { storage, change, pauses };
  }

  it.each([
    ["a full disk", 13],
    ["a value that is too big", 18],
    ["a constraint", 19],
  ])("that says %s fails the change, and keeps the open file", async (_, errcode) => {
    const { storage, change } = await failing(errcode, 1);
    await expect(change).rejects.toThrow("faulty");
    expect(text(await storage.get("key"))).toBe("old");
  });

  it.each([
    ["a failed read or write", 10],
    ["a failed fsync", 10 | (4 << 8)],
    ["nothing that is known", undefined],
  ])("that says %s fails the change, and opens the file again", async (_, errcode) => {
    const { storage, change } = await failing(errcode, 1);
    await expect(change).rejects.toThrow("faulty");
    expect(text(await storage.get("key"))).toBe("new");
  });

  it.each([
    ["a lock", 5],
    ["a lock of a file that recovers", 5 | (1 << 8)],
    ["a locked table", 6],
    ["a race for a lock", 15],
  ])("that says %s is tried again after pauses that grow up to 50 ms", async (_, errcode) => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { storage, change, pauses } = await failing(errcode, 8);
    expect(await change).toBe(false);
    expect(text(await storage.get("key"))).toBe("old");
    const waits = pauses.slice(0, 8);
    for (const [index, longest] of [1, 2, 4, 8, 16, 32, 50, 50].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(longest / 2);
      expect(waits[index]).toBeLessThanOrEqual(longest);
    }
  });

  it("that says damage fails the change at once, and opens the file again", async () => {
    const storage = open();
    await storage.set("key", bytes("value"));
    const run = vi.spyOn(StatementSync.prototype, "run").mockImplementation(() => {
      throw Object.assign(new Error("faulty"), { errcode: 11 });
    });
    await expect(storage.delete("key")).rejects.toThrow(DamagedStorageError);
    expect(run).toHaveBeenCalledTimes(1);
    run.mockRestore();
    expect(text(await storage.get("key"))).toBe("value");
  });
});

it("many operations leave the process time for other tasks", async () => {
  const storage = open(":memory:");
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  for (let index = 0; index < 20_000 && ticks < 3; index += 1) await storage.set("key", bytes(`${index}`));
  clearInterval(timer);
  expect(ticks).toBe(3);
});
