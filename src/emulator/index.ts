import { assertRuntime } from "../util/runtime.ts";

export type { Policy } from "../http/endpoint.ts";
export { ControlError } from "./base/control-error.ts";
export { sampleImage } from "./base/pictures.ts";
export type { Limit } from "./base/rate-limit.ts";
export type { DemoCatalog } from "./catalog/catalog.ts";
export type { KeyOptions, OrganizationOptions, StoreOptions } from "./catalog/organization.ts";
export type { Stage } from "./catalog/products.ts";
export type { EmulatorClock } from "./clock/emulator-clock.ts";
export { createManualClock, type ManualClock } from "./clock/manual-clock.ts";
export type { Duration, PointInTime } from "./clock/point-in-time.ts";
export type { AutomationControls } from "./controls/automation.ts";
export type { CallbackControls, CallbackUrlControls } from "./controls/callbacks.ts";
export type { CatalogControls, MediaReplacement, ProductChanges, Stock } from "./controls/catalog.ts";
export type { ClaimControls, ClaimReview } from "./controls/claims.ts";
export type { KeyChanges, KeyControls, LimitControls } from "./controls/limits.ts";
export type { OrderControls, ShipOptions } from "./controls/orders.ts";
export type { RenderControls } from "./controls/renders.ts";
export type { SeedControls } from "./controls/seed.ts";
export type { WorldControls } from "./controls/worlds.ts";
export type * from "./faults/fault.ts";
export type { AddedFault, Faults } from "./faults/faults.ts";
export type * from "./recorder/logged-request.ts";
export type { ClaimlineReview } from "./rules/claims.ts";
export { createEmulator, type Emulator, type EmulatorClientOptions } from "./server/emulator.ts";
export { emulatorHandlers } from "./server/msw.ts";
export type { ParallelWorld, ParallelWorldOptions, ParallelWorlds } from "./server/parallel-worlds.ts";
export { type RunningEmulator, type StartEmulatorOptions, startEmulator } from "./server/server.ts";
export {
  type BuilderEmulator,
  validAddress,
  validEvidence,
  validImage,
  validItemIssues,
  validOrder,
  validPackageMissing,
  validQuote,
  validRender,
} from "./settings/builders.ts";
export type { EmulatorOptions, RepeatedIdentifier, Shapes } from "./settings/options.ts";
export type {
  Planted,
  PlantedOrder,
  PlantedShipment,
  SeedClaim,
  SeedLine,
  SeedOrder,
  SeedProduct,
  SeedRecords,
  SeedShipment,
} from "./settings/seed.ts";
export type { SavedWorld } from "./state/saved-world.ts";
export type { AutomaticReview, AutomationOptions } from "./work/automation.ts";
export type { CallbackOptions, CallbackTry, SentCallback } from "./work/callback.ts";

assertRuntime();
