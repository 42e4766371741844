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
