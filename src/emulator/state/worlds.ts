import { type Catalog, createCatalog } from "../catalog/catalog.ts";
import { createOrganization, type OrganizationPlan } from "../catalog/organization.ts";
import { sharedCatalog } from "../catalog/shared-catalog.ts";
import { Lifetime } from "../core/lifetime.ts";
import { createReferenceMaker } from "../core/reference-maker.ts";
import type { Settings } from "../settings/options.ts";
import { createWorld, type Shared, type World } from "./world.ts";

/** What all references derive from. */
export type Origin = Pick<Settings, "seed" | "environment">;
type Plans = Settings["organizations"];
export type Base = ReturnType<typeof createBase>;

/** Makes what all organizations share. */
export function createBase({ seed, environment }: Origin, pageSize: number) {
  const make = createReferenceMaker({ seed, environment });
  return { origin: { seed, environment }, make, catalog: createCatalog(make, pageSize) };
}

/** Makes the organizations without orders. */
export function createWorlds(
  parts: Omit<Shared, "make" | "catalog" | "lifetime">,
  [demo, ...others]: Plans,
  base: Base,
) {
  const { origin, make, catalog } = base;
  const { pageSize } = parts.settings;
  const lifetime = new Lifetime();
  const createOne = (plan: OrganizationPlan, visible: Catalog) =>
    createWorld({ ...parts, make, lifetime, catalog: visible }, createOrganization(make, origin.environment, plan));
  const worlds: readonly [World, ...World[]] = [
    createOne(demo, catalog),
    ...others.map((plan) => createOne(plan, sharedCatalog(catalog, pageSize))),
  ];
  return { ...base, worlds, lifetime };
}

/** The organizations, with what they share. */
export type Worlds = ReturnType<typeof createWorlds>;
