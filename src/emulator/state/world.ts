import type { Rendertokens } from "../../resources/rendertokens/rendertokens.ts";
import { nextMonday } from "../base/amsterdam.ts";
import { Lifetime } from "../base/messages.ts";
import { Problem } from "../base/problem.ts";
import { createRateLimiter } from "../base/rate-limit.ts";
import { createReferenceMaker, type ReferenceMaker, type ReferenceOrigin } from "../base/reference-maker.ts";
import { Collection, type PageSizes, RecordTable } from "../base/table.ts";
import { type Catalog, createCatalog, sharedCatalog } from "../catalog/catalog.ts";
import {
  createOrganization,
  type OrganizationPlan,
  type OrganizationState,
  type StoredKey,
} from "../catalog/organization.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import type { Settings } from "../settings/options.ts";
import type { Agenda } from "../work/agenda.ts";
import type { Automation } from "../work/automation.ts";
import {
  listNames,
  type StoredClaim,
  type StoredImage,
  type StoredOrder,
  type StoredRecords,
  type Task,
} from "../work/records.ts";

/** The orders, with a look-up by `customIdentifier`. */
class Orders extends Collection<StoredOrder> {
  readonly #byIdentifier = new Map<string, StoredOrder[]>();

  override add<Added extends StoredOrder>(order: Added): Added {
    const { customIdentifier } = order;
    if (customIdentifier !== undefined) {
      const same = this.#byIdentifier.get(customIdentifier);
      if (same === undefined) this.#byIdentifier.set(customIdentifier, [order]);
      else same.push(order);
    }
    return super.add(order);
  }

  override load(orders: readonly StoredOrder[]): void {
    this.#byIdentifier.clear();
    super.load(orders);
  }

  /** The first order with a `customIdentifier`, in any store or in this one. */
  identified(identifier: string | undefined, store?: string): StoredOrder | undefined {
    const same = identifier === undefined ? undefined : this.#byIdentifier.get(identifier);
    return same?.find(({ storeReference }) => store === undefined || storeReference === store);
  }
}

/** The organization's rendertokens of this week (specification 4.6). */
interface RendertokenBudget {
  /** Deducts tokens. When too few remain, deducts none and throws `rendertoken_limit_exceeded`. */
  spend(tokens: number): void;
  state(): Rendertokens;
  save(): SavedRendertokens;
  load(saved: SavedRendertokens): void;
}

/** The rendertokens in a saved world. */
export interface SavedRendertokens {
  readonly used: number;
  /** The time of the next reset, in milliseconds since 1970. */
  readonly resets: number;
}

function createRendertokenBudget(clock: WorldClock, limit: number): RendertokenBudget {
  let used = 0;
  // Set at the first use: the first date of a time zone takes 20 ms, which is most of the emulator's start.
  let reset: ReturnType<typeof nextMonday> | undefined;

  /** The reset that ends the week of `used`. */
  const current = () => {
    reset ??= nextMonday(clock.now());
    return reset;
  };

  const refresh = () => {
    if (clock.now() >= current().at) {
      used = 0;
      reset = nextMonday(clock.now());
    }
    return current();
  };

  return {
    spend: (tokens) => {
      const { at, iso } = refresh();
      if (used + tokens > limit) {
        const message = `${limit - used} of ${limit} rendertokens remain, ${tokens} are needed; they reset at ${iso}`;
        throw new Problem("rendertoken_limit_exceeded", message, clock.toWire(at - clock.now()));
      }
      used += tokens;
    },
    state: () => {
      const { iso } = refresh();
      return { used, limit, remaining: limit - used, resets: iso };
    },
    save: () => ({ used, resets: current().at }),
    load: (saved) => {
      used = saved.used;
      reset = nextMonday(saved.resets - 1);
    },
  };
}

/** What all organizations share. */
interface SharedParts {
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

/** A list of records for each kind. */
export type RecordTables = { readonly [List in keyof StoredRecords]: RecordTable<StoredRecords[List]> };

const createTables = () => Object.fromEntries(listNames.map((list) => [list, new RecordTable()])) as RecordTables;

/** Makes an organization's world with empty lists. The lists with pages, and those that begin with demo records, replace others. */
function createWorld(
  { settings, clock, agenda, automation, make, catalog, lifetime }: SharedParts,
  organization: OrganizationState,
) {
  const oldestFirst = settings.assumptions.listOrder === "oldest-first";
  return {
    settings,
    clock,
    agenda,
    automation,
    now: clock.now,
    lifetime,
    make,
    ...createTables(),
    ...catalog,
    ...organization,
    rateLimits: createRateLimiter(clock.wire, organization.limits),
    rendertokens: createRendertokenBudget(clock, organization.rendertokenLimit),
    images: new Collection<StoredImage>("images", settings.pageSizes, oldestFirst),
    orders: new Orders("orders", settings.pageSizes, oldestFirst),
    claims: new Collection<StoredClaim>("claims", settings.pageSizes, oldestFirst),
  };
}

/** Formats a point in time as the service does. */
export const toTimestamp = (at: number): string => new Date(at).toISOString();

type Plans = Settings["organizations"];
export type Base = ReturnType<typeof createBase>;

/** Makes what all organizations share. */
export function createBase({ seed, environment }: ReferenceOrigin, pageSizes: PageSizes) {
  const make = createReferenceMaker({ seed, environment });
  return { origin: { seed, environment }, make, catalog: createCatalog(make, pageSizes) };
}

/** Makes the organizations without orders. */
export function createWorlds(
  parts: Omit<SharedParts, "make" | "catalog" | "lifetime">,
  [demo, ...others]: Plans,
  base: Base,
) {
  const { origin, make, catalog } = base;
  const { pageSizes } = parts.settings;
  const lifetime = new Lifetime();
  const createOne = (plan: OrganizationPlan, visible: Catalog) =>
    createWorld({ ...parts, make, lifetime, catalog: visible }, createOrganization(make, origin.environment, plan));
  const worlds: readonly [World, ...World[]] = [
    createOne(demo, catalog),
    ...others.map((plan) => createOne(plan, sharedCatalog(catalog, pageSizes))),
  ];
  return { ...base, worlds, lifetime };
}

/** The organizations, with what they share. */
export type Worlds = ReturnType<typeof createWorlds>;
