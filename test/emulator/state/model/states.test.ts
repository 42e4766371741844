import fc from "fast-check";
import { createEmulator, createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { commands, start } from "./commands.ts";
import { checkLists } from "./invariants.ts";

const runs = Number(process.env.MODEL_RUNS ?? 60);

it("no random sequence of calls and controls reaches a state that the specification forbids, and any state can be saved", async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { size: "+1", maxCommands: 60 }), async (sequence) => {
      const { model, real } = start();
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await real.emulator.clock.advance({ days: 7 });
      await checkLists(real.get);
      const saved = real.emulator.world();
      const copy = createEmulator({ clock: createManualClock("2030-01-01"), pageSize: 3 });
      copy.load(JSON.parse(JSON.stringify(saved)));
      expect(copy.world()).toEqual(saved);
      changed += saved.organizations[0]?.claims.length ?? 0;
    }),
    { numRuns: runs, seed: 12 },
  );
  // The sequences do something.
  expect(changed).toBeGreaterThan(10);
});
