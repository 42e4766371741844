import { ControlError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { World } from "../state/world.ts";

type Lists = {
  [Name in keyof World as World[Name] extends { get(reference: string): infer _Stored } ? Name : never]: World[Name];
};
type Stored<List extends keyof Lists> = NonNullable<ReturnType<World[List]["get"]>>;

const words: Readonly<Record<string, string>> = {
  orders: "order",
  claims: "claim",
  renders: "render",
  stores: "store",
  products: "product",
  items: "warehouse item",
};

/** Finds a record and the world that it belongs to. Throws a {@link ControlError} when no organization has it. */
export function find<List extends keyof Lists>(
  { worlds }: Emulation,
  list: List,
  reference: string,
): { readonly world: World; readonly record: Stored<List> } {
  for (const world of worlds) {
    const record = world[list].get(reference);
    if (record !== undefined) return { world, record: record as Stored<List> };
  }
  throw new ControlError(`The emulator has no ${words[list] ?? list} ${reference}`);
}

/** Finds the world of an organization. Default: the demo organization. */
export function organizationNamed({ worlds }: Emulation, name = worlds[0].organization.name): World {
  const world = worlds.find(({ organization }) => organization.name === name);
  if (world !== undefined) return world;
  throw new ControlError(`There is no organization ${name}`);
}
