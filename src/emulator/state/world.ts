import type { Automation } from "../automation/automation.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Organization, StoredKey } from "../catalog/organization.ts";
import type { Agenda } from "../clock/agenda.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { Collection } from "../core/collection.ts";
import type { Lifetime } from "../core/lifetime.ts";
import { createRateLimiter } from "../core/rate-limit.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";
import { Table } from "../core/table.ts";
import type {
  StoredAddress,
  StoredClaim,
  StoredEvidence,
  StoredImage,
  StoredRender,
  StoredShipment,
} from "../records/records.ts";
import type { Task } from "../records/task.ts";
import type { Settings } from "../settings/options.ts";
import { Orders } from "./orders.ts";
import { createRendertokenBudget } from "./rendertoken-budget.ts";

/** What all organizations share. */
export interface Shared {
  readonly settings: Settings;
  readonly clock: WorldClock;
  readonly agenda: Agenda<Task>;
  readonly automation: Automation;
  readonly make: ReferenceMaker;
  readonly catalog: Catalog;
  readonly lifetime: Lifetime;
}

/** The service as one organization sees it: the catalog and what belongs to the organization. */
export type World = ReturnType<typeof createWorld>;

/** Who makes a request: a key, and the world of its organization. */
export interface Caller {
  readonly world: World;
  readonly key: StoredKey;
}

/** Makes an organization's world with empty lists. */
export function createWorld(
  { settings, clock, agenda, automation, make, catalog, lifetime }: Shared,
  organization: Organization,
) {
  return {
    settings,
    clock,
    agenda,
    automation,
    now: clock.now,
    lifetime,
    make,
    ...catalog,
    ...organization,
    rateLimits: createRateLimiter(clock.wire, organization.limits),
    rendertokens: createRendertokenBudget(clock, organization.rendertokenLimit),
    addresses: new Table<StoredAddress>(),
    images: new Collection<StoredImage>("images", settings.pageSize),
    evidence: new Table<StoredEvidence>(),
    renders: new Table<StoredRender>(),
    orders: new Orders("orders", settings.pageSize),
    shipments: new Table<StoredShipment>(),
    claims: new Collection<StoredClaim>("claims", settings.pageSize),
  };
}

/** Formats a point in time as the service does. */
export const toTimestamp = (at: number): string => new Date(at).toISOString();
