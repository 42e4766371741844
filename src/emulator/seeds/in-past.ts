import type { World } from "../state/world.ts";

const day = 86_400_000;

/** The same world, some days earlier: what is added to it has that time. */
export function inPast(world: World, daysAgo = 0): World {
  const time = world.now() - daysAgo * day;
  return { ...world, now: () => time };
}
