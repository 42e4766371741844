import { createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { partnerWith } from "../support/partner.ts";
import { settle } from "../support/settle.ts";

it("chooses a random wait before each retry, so that many clients do not retry at the same time", async () => {
  const clock = createManualClock();
  const delays: number[][] = [];
  const call = async () => {
    const own: number[] = [];
    delays.push(own);
    let left = 3;
    const fetch = async () =>
      left-- > 0
        ? Response.json({ code: "down", message: "later" }, { status: 500 })
        : Response.json({ message: "ok" });
    const hooks = { onRetry: ({ delay }: { delay: number }) => void own.push(delay) };
    const retry = { baseDelay: 1_000, maxDelay: 3_000 };
    const partner = partnerWith({ fetch, clock, hooks, retry });
    await partner.auth.validate();
  };
  await settle(clock, Promise.all(Array.from({ length: 60 }, call)));
  for (const [attempt, most] of [1_000, 2_000, 3_000].entries()) {
    const waits = delays.map((own) => own[attempt] ?? Number.NaN).sort((one, other) => one - other);
    expect(waits[0]).toBeGreaterThanOrEqual(most / 2);
    expect(waits.at(-1)).toBeLessThan(most);
    // 60 draws from the upper half: some in its lowest third, some in its highest, and no two alike.
    expect(waits[0]).toBeLessThan((most * 2) / 3);
    expect(waits.at(-1)).toBeGreaterThan((most * 5) / 6);
    expect(new Set(waits).size).toBe(60);
  }
});
