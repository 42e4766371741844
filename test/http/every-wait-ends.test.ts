import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { setUp } from "../support/setup.ts";
import { waits } from "../support/waits.ts";

/** Renders that take longer than any test. */
const endless = { renderDuration: 1e12 };

describe.each(waits)("$name", ({ begin, late }) => {
  it("ends at once at an abort with the caller's reason, and leaves nothing open", async () => {
    const setup = setUp(endless);
    const call = await begin(setup);
    const controller = new AbortController();
    const outcome = rejection(call({ signal: controller.signal }));
    await setup.clock.advance(3_000);
    const reason = { why: "the customer has left" };
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    await setup.clock.advance(0);
    expect([setup.clock.pending, getEventListeners(controller.signal, "abort").length]).toEqual([0, 0]);
  });

  it("does not start with a signal that is already aborted", async () => {
    const setup = setUp(endless);
    const call = await begin(setup);
    const before = setup.emulator.requests.length;
    const reason = new Error("never mind");
    expect(await rejection(call({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect([setup.emulator.requests.length - before, setup.clock.pending]).toEqual([0, 0]);
  });

  it(`ends at the deadline, as ${late}, and leaves nothing open`, async () => {
    const setup = setUp(endless);
    const call = await begin(setup);
    const began = setup.clock.now();
    let ended = Number.NaN;
    const outcome = rejection(call({ deadline: 5_000 }));
    void outcome.then(() => {
      ended = setup.clock.now() - began;
    });
    await setup.clock.advance(5_000);
    expect(await outcome).toMatchObject({ name: late });
    expect(ended).toBeLessThanOrEqual(5_000);
    expect(setup.clock.pending).toBe(0);
  });
});
