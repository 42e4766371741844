import type { ControlError, SavedWorld } from "pod-partner/testing";
import { expect } from "vitest";
import { busy } from "./busy.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests break the records on purpose
export type Broken = any;

/** Loads a changed copy of a world. Returns the issues of the refusal. The state must stay the same. */
export async function issuesOf(change: (world: Broken, demo: Broken) => void): Promise<readonly string[]> {
  const { emulator } = await busy();
  const before = emulator.world();
  const world = structuredClone(before) as Broken;
  change(world, world.organizations[0]);
  let issues: readonly string[] = [];
  try {
    emulator.load(world as SavedWorld);
  } catch (error) {
    issues = (error as ControlError).issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    expect(error).toMatchObject({
      name: "ControlError",
      code: "invalid_input",
      message: expect.stringContaining(issues[0] ?? ""),
    });
  }
  expect(emulator.world()).toEqual(before);
  return issues;
}
