import { createClaimcategories } from "../catalog/claimcategories.ts";
import { createDemoCatalog } from "../catalog/demo.ts";
import { createOrganization } from "../catalog/organization.ts";
import { createProducts } from "../catalog/products.ts";
import { createRendering } from "../catalog/rendering.ts";
import { createRateLimiter } from "../http/rate-limit.ts";
import type { Settings } from "../options.ts";
import { Collection } from "./collection.ts";
import type {
  StoredAddress,
  StoredClaim,
  StoredEvidence,
  StoredImage,
  StoredOrder,
  StoredRender,
  StoredShipment,
} from "./records.ts";
import { createReferenceMaker } from "./reference-maker.ts";
import { createRendertokenBudget } from "./rendertoken-budget.ts";

/** The state of the emulated service. */
export type World = ReturnType<typeof createWorld>;

/** Makes the initial state: the demo catalog and empty lists. */
export function createWorld(settings: Settings) {
  const make = createReferenceMaker(settings);
  const list = <Stored extends { readonly reference: string }>(name: string) =>
    new Collection<Stored>(name, settings.pageSize);
  const catalog = createProducts(make, settings.pageSize);
  return {
    settings,
    now: () => settings.clock.now(),
    make,
    /** The `createdBy` of claims. */
    key: make.named("Key", settings.secretKey),
    rateLimits: createRateLimiter(settings.clock, settings.limits),
    rendertokens: createRendertokenBudget(settings.clock, settings.rendertokenLimit),
    demo: createDemoCatalog(make),
    ...createOrganization(make, settings.environment),
    ...catalog,
    ...createRendering(make, catalog.productgroups, catalog.products),
    claimcategories: createClaimcategories(make),
    addresses: new Map<string, StoredAddress>(),
    images: list<StoredImage>("images"),
    imagesByHash: new Map<string, StoredImage>(),
    evidence: new Map<string, StoredEvidence>(),
    renders: new Map<string, StoredRender>(),
    orders: list<StoredOrder>("orders"),
    /** The first order with each `customIdentifier`. */
    ordersByIdentifier: new Map<string, StoredOrder>(),
    shipments: new Map<string, StoredShipment>(),
    claims: list<StoredClaim>("claims"),
  };
}

/** Formats a point in time as the service does. */
export const toTimestamp = (at: number): string => new Date(at).toISOString();
