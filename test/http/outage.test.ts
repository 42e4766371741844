import { describe, expect, it } from "vitest";
import { meetOutage, outageCalls, outageKinds } from "./outage.ts";

describe.each(outageKinds)("an outage of ten seconds (%s)", (kind) => {
  it.each(outageCalls)("is survived by each %s that begins in it, without a storm of requests", async (call) => {
    const count = call === "creation" ? 60 : 200;
    const { succeeded, created, requests } = await meetOutage({ kind, call, length: 10_000, count });
    expect(succeeded).toBe(count);
    expect(created).toBe(call === "creation" ? count : 0);
    expect(requests / count).toBeLessThan(kind.startsWith("503") && call === "creation" ? 12 : 6);
  });
});

describe("an outage", () => {
  it("of ten seconds is survived by a thousand calls that begin in it, with two or three requests each", async () => {
    const { succeeded, requests } = await meetOutage({ kind: "refused", length: 10_000 });
    expect(succeeded).toBe(1_000);
    expect(requests).toBeLessThan(2_500);
  });

  it("of ten seconds is survived by a thousand calls that begin with it", async () => {
    const { succeeded } = await meetOutage({ kind: "503", length: 10_000, to: 0, seed: 2 });
    expect(succeeded).toBeGreaterThanOrEqual(990);
  });

  it("of a minute gets fewer requests for each call than one of ten seconds, and no call waits for longer than 26 s", async () => {
    const short = await meetOutage({ kind: "503", length: 10_000, count: 400 });
    const long = await meetOutage({ kind: "503", length: 60_000, count: 400 });
    expect(long.requests).toBeLessThan(short.requests);
    expect(long.patience).toBeLessThan(26_000);
  });
});
