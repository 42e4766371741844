import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../src/http/retry-after.ts";
import { CursorTrail } from "../../src/pagination/cursor-trail.ts";
import { RecentItems } from "../../src/pagination/recent-items.ts";
import { concurrently } from "../../src/util/concurrently.ts";
import { Turns } from "../../src/util/turns.ts";

describe("Retry-After (specification 8, RFC 9110)", () => {
  const now = Date.parse("2026-11-02T09:00:00Z");
  const date = "Mon, 02 Nov 2026 09:00:00 GMT";

  it.each([
    ["17", undefined, 17_000],
    ["0", undefined, 0],
    ["1.5", undefined, 1_500],
    ["5, 17", undefined, 17_000],
    ["Mon, 02 Nov 2026 09:00:30 GMT", undefined, 30_000],
    ["Monday, 02-Nov-26 09:00:30 GMT", undefined, 30_000],
    ["Mon Nov  2 09:00:30 2026", undefined, 30_000],
    ["Mon Nov  2 09:00:30 2026", "Mon Nov  2 09:00:10 2026", 20_000],
    ["Mon, 02 Nov 2026 08:00:30 GMT", "Mon, 02 Nov 2026 08:00:00 GMT", 30_000],
    ["Mon, 02 Nov 2026 08:59:00 GMT", date, 0],
  ])("%j, answered at %j, asks for %d ms", (value, answered, ms) => {
    const headers = new Headers({ "retry-after": value, ...(answered && { date: answered }) });
    expect(parseRetryAfter(headers, now)).toBe(ms);
  });

  it("is of UTC in each form of a date, wherever this machine is", () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = "Asia/Tokyo";
      expect(parseRetryAfter(new Headers({ "retry-after": "Mon Nov  2 09:00:30 2026" }), now)).toBe(30_000);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each(["", "soon", "-5", "5,", "5, soon", "1e3", "0x10", "Mon, 99 Nov 2026", "9".repeat(400)])(
    "%j is garbage",
    (value) => {
      expect(parseRetryAfter(new Headers({ "retry-after": value }), now)).toBeUndefined();
    },
  );
});

describe("the trail of cursors", () => {
  it("finds a loop that is longer than its memory, in time", () => {
    const trail = new CursorTrail("GET /orders");
    const loop = 5_000;
    let steps = 0;
    const walk = () => {
      for (; steps < 10 * loop; steps++) trail.follow(`cursor-${steps % loop}`);
    };
    expect(walk).toThrow("GET /orders gave the same nextCursor twice");
    expect(steps).toBeGreaterThanOrEqual(loop);
  });

  it("lets a chain of any length pass", () => {
    const trail = new CursorTrail("GET /orders");
    for (let step = 0; step < 50_000; step++) trail.follow(`cursor-${step}`);
  });
});

describe("recent items", () => {
  it("leaves out what an earlier page or the page itself has given, and keeps what has no reference", () => {
    const recent = new RecentItems<object>();
    const [a, b, c] = [{ reference: "a" }, { reference: "b" }, { reference: "c" }];
    expect(recent.withoutRepeats([a, b, {}])).toEqual([a, b, {}]);
    expect(recent.withoutRepeats([b, c, c, {}])).toEqual([c, {}]);
  });
});

describe("turns", () => {
  const wait = (turn: Promise<unknown>) => turn;

  it("lets work of one name wait for the one before, also when that fails, and of another name pass", async () => {
    const turns = new Turns();
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
    const first = turns.take("x", work("first", true), wait).catch((error: unknown) => String(error));
    const second = turns.take("x", work("second"), wait);
    const other = turns.take("y", work("other"), wait);
    expect(await Promise.all([first, second, other])).toEqual(["Error: first", "second", "other"]);
    expect(order.indexOf("second begins")).toBeGreaterThan(order.indexOf("first ends"));
    expect(order.indexOf("other begins")).toBeLessThan(order.indexOf("first ends"));
  });

  it("lets whoever gives up leave the line at once, and the next still wait for the first", async () => {
    const turns = new Turns();
    const leaving = Promise.withResolvers<never>();
    const gate = Promise.withResolvers<string>();
    const first = turns.take("x", () => gate.promise, wait);
    const second = turns.take(
      "x",
      async () => "second",
      () => leaving.promise,
    );
    let thirdBegan = false;
    const third = turns.take(
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
});

describe("working concurrently", () => {
  it("reads no more inputs than it works on, and finishes what it has begun when it is left", async () => {
    let read = 0;
    let finished = 0;
    function* endless() {
      for (;;) yield read++;
    }
    const work = async (input: number) => {
      await Promise.resolve();
      finished += 1;
      return input;
    };
    for await (const outcome of concurrently(endless(), 3, work)) {
      expect(outcome).toEqual({ ok: true, input: 0, value: 0 });
      break;
    }
    expect(read).toBe(3);
    expect(finished).toBe(3);
  });
});
