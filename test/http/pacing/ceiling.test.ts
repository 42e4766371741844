import { describe, expect, it, vi } from "vitest";
import { Ceiling, type Reserve } from "../../../src/http/pacing/ceiling.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

/** The ceiling of one process of a fleet. Each reservation gets the next reply, once it is given. */
function inFleet(burst = 5) {
  const clock = createTimeline();
  const asked: number[] = [];
  const replies: ((waits: readonly number[]) => void)[] = [];
  const reserve: Reserve = (_, slots) => {
    asked.push(slots);
    return new Promise((resolve) => replies.push(resolve));
  };
  const wake = vi.fn();
  const ceiling = new Ceiling({ perSecond: burst, burst }, clock, reserve, wake);
  const reply = async (...waits: readonly number[]) => {
    replies.shift()?.(waits);
    await clock.run(clock.now());
  };
  return { clock, ceiling, asked, reply, wake };
}

describe("the slots of a fleet", () => {
  it("are reserved once for all calls that wait, and wake the queue when they are known", async () => {
    const { ceiling, asked, reply, wake } = inFleet();
    expect([ceiling.wait(3), ceiling.wait(4)]).toMatchObject([
      { ms: Number.POSITIVE_INFINITY, reason: "fleet" },
      { reason: "fleet" },
    ]);
    expect([asked, wake.mock.calls.length]).toEqual([[3], 0]);
    await reply(10, 20, 30);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(ceiling.wait(4)).toMatchObject({ ms: 10, reason: "ceiling" });
    expect([0, 1, 2, 3, 4].map((requests) => ceiling.until(requests))).toEqual([0, 10, 20, 30, 30]);
    expect(asked).toEqual([3]);
  });

  it("are used one after the other, and then reserved again", async () => {
    const { clock, ceiling, asked, reply } = inFleet();
    ceiling.wait(2);
    await reply(10, 20);
    await clock.run(10);
    expect(ceiling.wait(1)).toBeUndefined();
    ceiling.take();
    expect(ceiling.wait(1)).toMatchObject({ ms: 10 });
    await clock.run(20);
    ceiling.take();
    expect(ceiling.wait(1)).toMatchObject({ reason: "fleet" });
    expect(asked).toEqual([2, 1]);
  });

  it("expire 50 ms after their time, after each loss twice as late, and after a use as before", async () => {
    const { clock, ceiling, asked, reply } = inFleet();
    /** The milliseconds after its time until a slot expires, and the next one is reserved. */
    const expires = async () => {
      await reply(0);
      const since = clock.now();
      for (const before = asked.length; asked.length === before; ceiling.wait(1)) await clock.run(clock.now() + 1);
      return clock.now() - since;
    };
    ceiling.wait(1);
    expect([await expires(), await expires()]).toEqual([50, 100]);
    await reply(0);
    ceiling.take();
    ceiling.wait(1);
    expect(await expires()).toBe(50);
  });

  it("are those of the process alone while the fleet is lost", async () => {
    const { ceiling, asked, reply } = inFleet(1);
    ceiling.wait(1);
    await reply();
    expect(ceiling.wait(1)).toBeUndefined();
    ceiling.take();
    ceiling.wait(1);
    await reply();
    // The window of its own request.
    expect(ceiling.wait(1)).toMatchObject({ ms: 1_000, reason: "ceiling" });
    expect(asked).toEqual([1, 1]);
  });
});

it("a slot is free again when its request was not sent", () => {
  const ceiling = new Ceiling({ perSecond: 1, burst: 1 }, createTimeline(), undefined, () => undefined);
  const slot = ceiling.take();
  ceiling.giveBack(slot + 1);
  expect(ceiling.until(1)).toBe(1_000);
  ceiling.giveBack(slot);
  expect(ceiling.until(1)).toBe(0);
});
