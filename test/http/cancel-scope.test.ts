import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { CancelScope } from "../../src/http/cancel-scope.ts";
import { rejection } from "../support/exchange.ts";

/** Begins work in a scope, and ends its call before `begin` returns, as a hook can. */
function endWhileBeginning(settles: boolean) {
  const controller = new AbortController();
  const scope = new CancelScope(createManualClock(), controller.signal, undefined);
  const reasons: unknown[] = [];
  const held = scope.hold<string>(({ resolve }) => {
    if (settles) resolve("granted");
    controller.abort("enough");
    return (reason) => reasons.push(reason);
  });
  return { held, reasons };
}

describe("a wait that cannot end before the deadline", () => {
  it.each([
    [60, "The call's deadline of 100 ms is 40 ms away: the next look-up takes 50 ms."],
    [100, "The call's deadline of 100 ms is over: the call was not finished."],
  ])("says so after %i ms", async (elapsed, message) => {
    const clock = createManualClock();
    const scope = new CancelScope({ ...clock, after: () => () => undefined }, undefined, 100);
    await clock.advance(elapsed);
    expect(await rejection(scope.sleep(50, "the next look-up"))).toMatchObject({ message });
  });

  it("names the error before it, without its hint", async () => {
    const scope = new CancelScope(createManualClock(), undefined, 100);
    const cause = new Error("No response from GET /orders: ENOTFOUND.\n  Check the host name.");
    expect(await rejection(scope.sleep(200, "the wait before the next attempt", cause))).toMatchObject({
      message:
        "The call's deadline of 100 ms is 100 ms away: the wait before the next attempt takes 200 ms. Before it: No response from GET /orders: ENOTFOUND.",
      cause,
    });
  });
});

describe("work whose call ends while it begins", () => {
  it("is not stopped if it has settled: a call that has its token has left the queue", async () => {
    const { held, reasons } = endWhileBeginning(true);
    expect([await held, reasons]).toEqual(["granted", []]);
  });

  it("is stopped once otherwise", async () => {
    const { held, reasons } = endWhileBeginning(false);
    expect([await rejection(held), reasons]).toEqual(["enough", ["enough"]]);
  });
});
