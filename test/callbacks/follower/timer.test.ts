import { describe, expect, it } from "vitest";
import { createWorld, first } from "./support.ts";

const hour = 3_600_000;

describe("the timer of a follower", () => {
  it("sweeps at once, then once in each period of `interval`, until `close`", async () => {
    const { clock, service, follower } = createWorld();
    await follower().follow(first);
    const { close } = follower({ interval: hour });
    await clock.advance(0);
    expect(service.reads).toHaveLength(1);
    await clock.advance(hour - 1);
    expect(service.reads).toHaveLength(1);
    await clock.advance(1);
    expect(service.reads).toHaveLength(2);
    await close();
    await clock.advance(5 * hour);
    expect(service.reads).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("of several processes reads an order once in a period, also with a restart", async () => {
    const { clock, service, follower } = createWorld();
    await follower().follow(first);
    const started = [follower({ interval: hour })];
    await clock.advance(hour / 4);
    started.push(follower({ interval: hour }));
    await clock.advance(hour * 10);
    for (const { close } of started) await close();
    expect(service.reads.length).toBe(11);
    const restarted = follower({ interval: hour });
    await clock.advance(0);
    expect(service.reads.length).toBe(11);
    await restarted.close();
  });

  it("reports a failed sweep, and continues", async () => {
    const { clock, service, follower, handed } = createWorld();
    const errors: unknown[] = [];
    await follower().follow(first);
    let failures = 1;
    const { close } = follower({
      interval: hour,
      onError: (error) => errors.push(error),
      onChange: () => {
        if (failures-- > 0) throw new Error("failed once");
      },
    });
    await clock.advance(0);
    expect(errors).toEqual([expect.objectContaining({ name: "ReconcileError", failed: 1 })]);
    await clock.advance(hour);
    expect([errors.length, handed.length, service.reads.length]).toEqual([1, 1, 2]);
    await close();
  });
});
