import { memoryStorage } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { collectGarbage } from "../support/garbage.ts";

it("a memory that is only read does not grow", async () => {
  const storage = memoryStorage({ clock: createManualClock() });
  await storage.set("order:1", new Uint8Array(8));
  const grown = async () => {
    for (let count = 0; count < 50_000; count += 1) await storage.get("order:1");
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await grown();
  expect((await grown()) - before).toBeLessThan(2_000_000);
});
