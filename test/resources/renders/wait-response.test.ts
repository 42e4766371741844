import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { setUp } from "../../support/setup.ts";
import { pendingRender } from "../../support/waits.ts";

describe("withResponse() of a wait", () => {
  it("returns the completed render, its response, every look-up and wait, and the rate limits", async () => {
    const setup = setUp({ renderDuration: 90_000 });
    const reference = await pendingRender(setup);
    const { data, response, timeline, rateLimits } = await setup.settle(
      setup.partner.renders.wait(reference, { interval: 60_000 }).withResponse(),
    );
    expect(data).toMatchObject({ reference, status: "completed" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(timeline.map(({ step, outcome }) => `${step}: ${outcome}`)).toEqual([
      "lookup: pending",
      "poll: waited",
      "lookup: pending",
      "poll: waited",
      "lookup: done",
    ]);
    expect(timeline[1]?.took).toBe(60_000);
    expect(rateLimits.policies.default?.quota).toBe(3000);
  });

  it.each(["media", "thumbnail"] as const)(
    "returns the picture of renders.%s, which can still be read",
    async (file) => {
      const setup = setUp({ renderDuration: 10_000 });
      const reference = await pendingRender(setup);
      const call = setup.partner.renders[file](reference, { wait: true });
      const { data, response, timeline, rateLimits } = await setup.settle(call.withResponse());
      expect(response.headers.get("content-type")).toBe(data.contentType);
      expect((await data.bytes()).length).toBe(data.size);
      const steps = timeline.map(({ step, outcome }) => `${step}: ${outcome}`);
      expect(steps.slice(0, 2)).toEqual(["lookup: pending", "poll: waited"]);
      expect(steps.at(-1)).toBe("lookup: done");
      expect(rateLimits.policies.downloads?.quota).toBe(100_000);
      expect(setup.clock.pending).toBe(0);
    },
  );

  it("rejects as the wait itself does, and leaves no unhandled rejection", async () => {
    const setup = setUp({ renderDuration: 1e12 });
    const reference = await pendingRender(setup);
    const call = setup.partner.renders.wait(reference, { deadline: 1_000 });
    expect(await setup.settle(rejection(call.withResponse()))).toMatchObject({
      name: "WaitTimeoutError",
      reference,
      message: expect.stringContaining(`The render ${reference} was not completed within 1000 ms.`),
    });
  });
});
