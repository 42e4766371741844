import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { KeyedMutex } from "../../src/util/concurrency.ts";
import { collectGarbage } from "../support/garbage.ts";

describe("KeyedMutex", () => {
  const wait = (turn: Promise<unknown>) => turn;

  it("runs work with the same key one by one, also after a failure, and work with other keys concurrently", async () => {
    const mutex = new KeyedMutex();
    const order: string[] = [];
    const work =
      (name: string, fails = false) =>
      async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const first = mutex.take("x", work("first", true), wait).catch((error: unknown) => String(error));
    const second = mutex.take("x", work("second"), wait);
    const other = mutex.take("y", work("other"), wait);
    expect(await Promise.all([first, second, other])).toEqual(["Error: first", "second", "other"]);
    expect(order.indexOf("second begins")).toBeGreaterThan(order.indexOf("first ends"));
    expect(order.indexOf("other begins")).toBeLessThan(order.indexOf("first ends"));
  });

  it("removes aborted work from the queue at once, and the next work still waits for the first", async () => {
    const mutex = new KeyedMutex();
    const leaving = Promise.withResolvers<never>();
    const gate = Promise.withResolvers<string>();
    const first = mutex.take("x", () => gate.promise, wait);
    const second = mutex.take(
      "x",
      async () => "second",
      () => leaving.promise,
    );
    let thirdBegan = false;
    const third = mutex.take(
      "x",
      async () => {
        thirdBegan = true;
      },
      wait,
    );
    leaving.reject("gone");
    await expect(second).rejects.toBe("gone");
    expect(thirdBegan).toBe(false);
    gate.resolve("first");
    expect(await first).toBe("first");
    await third;
  });

  it("keeps the third work waiting for the second when the first has ended", async () => {
    const mutex = new KeyedMutex();
    const gate = Promise.withResolvers<void>();
    const first = mutex.take("x", async () => undefined, wait);
    const second = mutex.take("x", () => gate.promise, wait);
    await first;
    await setImmediate();
    let thirdBegan = false;
    const third = mutex.take(
      "x",
      async () => {
        thirdBegan = true;
      },
      wait,
    );
    await setImmediate();
    expect(thirdBegan).toBe(false);
    gate.resolve();
    await Promise.all([second, third]);
    expect(thirdBegan).toBe(true);
  });

  it("keeps no result of earlier work while work with that key overlaps all the time", async () => {
    const mutex = new KeyedMutex();
    const results: WeakRef<object>[] = [];
    let running: Promise<unknown> = Promise.resolve();
    for (let number = 0; number < 20; number += 1) {
      const before = running;
      running = mutex.take("x", async () => {
        await setImmediate();
        const result = { number };
        results.push(new WeakRef(result));
        return result;
      });
      await before;
    }
    await setImmediate();
    collectGarbage();
    expect(results.slice(0, 10).filter((result) => result.deref() !== undefined)).toEqual([]);
  });

  it.each([
    ["succeeds", async () => undefined],
    ["fails", () => Promise.reject(new Error("no"))],
  ])(
    "forgets a key once its work %s, so that memory is bounded and the next work with that key starts at once",
    async (_, work) => {
      const mutex = new KeyedMutex();
      await mutex.take("x", work, wait).catch(() => undefined);
      await setImmediate();
      let waited = false;
      const next = mutex.take(
        "x",
        async () => "next",
        (turn) => {
          waited = true;
          return turn;
        },
      );
      expect([await next, waited]).toEqual(["next", false]);
    },
  );
});
