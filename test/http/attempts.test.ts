import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { RequestTimeoutError } from "../../src/errors/connection.ts";
import { Attempts } from "../../src/http/attempts.ts";

/** A time limit: the service may work for 30 s in total. */
const late = Object.assign(Object.create(RequestTimeoutError.prototype), { kind: "RequestTimeoutError" });
/** A connection that breaks at once: 4 s are enough. */
const prompt = new Error("broken");

describe("the end of a doubt is the later one of", () => {
  const start = () => {
    const clock = createManualClock();
    const began = clock.now();
    const attempts = new Attempts(clock, { processingTime: 30_000, lookupTime: 4_000 });
    return { attempts, since: (at: number | undefined) => (at ?? Number.NaN) - began, began };
  };

  it.each([
    ["a long one and a short one", [late, prompt]],
    ["a short one and a long one", [prompt, late]],
  ])("%s", (_, errors) => {
    const { attempts, since } = start();
    for (const error of errors) {
      attempts.begin();
      attempts.lost(error);
    }
    expect(since(attempts.lostUntil)).toBe(30_000);
  });

  it.each([
    [100_000, 100_000],
    [1, 30_000],
  ])("an inherited one, which ends after %i ms, and that of the latest request", (until, expected) => {
    const { attempts, since, began } = start();
    attempts.inherit({ since: { at: began, date: began }, until: began + until });
    attempts.begin();
    expect(since(attempts.doubt?.until)).toBe(expected);
  });
});

describe("the doubt that a later call inherits", () => {
  const start = () => {
    const clock = createManualClock();
    return { clock, attempts: new Attempts(clock, { processingTime: 30_000, lookupTime: 4_000 }) };
  };

  it("does not exist before a request is sent", () => {
    expect(start().attempts.doubt).toBeUndefined();
  });

  it("begins with the first request, also after a later one", async () => {
    const { clock, attempts } = start();
    const first = attempts.begin();
    attempts.lost(prompt);
    await clock.advance(1_000);
    attempts.begin();
    expect(attempts.doubt).toMatchObject({ since: first });
  });
});
