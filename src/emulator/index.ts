/**
 * The emulator of the service.
 *
 * @module pod-partner/testing
 */

import { assertRuntime } from "../util/runtime.ts";

export type { Policy } from "../http/endpoint.ts";
export { ControlError } from "./base/control-error.ts";
export { sampleImage } from "./base/pictures.ts";
export type { Limit as LimitOptions } from "./base/rate-limit.ts";
export type { DemoCatalog } from "./catalog/catalog.ts";
export type {
  KeyOptions,
  OrganizationOptions,
  OrganizationPlan,
  StoredKey,
  StoredStore,
  StoreOptions,
} from "./catalog/organization.ts";
export type {
  AddedProduct,
  ProductgroupName,
  ProductName,
  ProductRow,
  ProductState,
  Stage,
  StoredItem,
  StoredMedia,
  StoredProduct,
  StoredProductgroup,
} from "./catalog/products.ts";
export type { EmulatorClock, SavedClock } from "./clock/emulator-clock.ts";
export { createManualClock, type ManualClock } from "./clock/manual-clock.ts";
export type { Duration, PointInTime } from "./clock/point-in-time.ts";
export type { CallbackControls } from "./controls/callbacks.ts";
export type { MediaReplacement, ProductChanges, Stock } from "./controls/catalog.ts";
export type { ClaimReview, CommonReview } from "./controls/claims.ts";
export type { KeyChanges } from "./controls/limits.ts";
export type { ShipOptions } from "./controls/orders.ts";
export type {
  BodyFault,
  DropFault,
  FailRenderFault,
  Fault,
  GatewayFault,
  HeadersFault,
  RedirectFault,
  SlowFault,
  StallFault,
  StatusFault,
  TrickleFault,
  TruncateFault,
} from "./faults/fault.ts";
export type { AddedFault, Faults, SavedFault } from "./faults/faults.ts";
export type {
  Har,
  HarEntry,
  HarMessage,
  HarPair,
  LoggedRequest,
  RecordedBody,
  RecordedMessage,
  RequestFilter,
  RequestLog,
  RequestOutcome,
  ServiceTime,
} from "./recorder/logged-request.ts";
export type { ClaimlineReview } from "./rules/claims.ts";
export { createEmulator, type Emulator, type EmulatorClientOptions } from "./server/emulator.ts";
export { emulatorHandlers } from "./server/msw.ts";
export type { ParallelWorld, ParallelWorldOptions, ParallelWorlds } from "./server/parallel-worlds.ts";
export { type RunningEmulator, type StartEmulatorOptions, startEmulator } from "./server/server.ts";
export type { EmulatorAssumptions } from "./settings/assumed.ts";
export type { BuilderEmulator } from "./settings/builders.ts";
export {
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
  SeedClaimOf,
  SeedLine,
  SeedOrder,
  SeedProduct,
  SeedRecords,
  SeedShipment,
} from "./settings/seed.ts";
export { type Difference, differences, type Made, madeIn, repeatedOrders } from "./simulate/compare.ts";
export type { SimulatedDatabase } from "./simulate/database.ts";
export { type SimulatedStep, SimulationError, type SimulationFinding } from "./simulate/error.ts";
export type { SimulatedProgram, SimulatedWorld, SimulateOptions } from "./simulate/options.ts";
export type { OperationKind, Schedule, SimulatedEvent } from "./simulate/schedule.ts";
export { type SimulationReport, simulate } from "./simulate/simulate.ts";
export type { SavedItem, SavedOrganization, SavedProduct, SavedWorld } from "./state/saved-world.ts";
export type { SavedRendertokens } from "./state/world.ts";
export type { Due } from "./work/agenda.ts";
export type { AutomaticReview, AutomationOptions } from "./work/automation.ts";
export type { CallbackOptions, CallbackTry, SentCallback } from "./work/callback.ts";
export type {
  Award,
  OrderTask,
  Parcel,
  StoredAddress,
  StoredClaim,
  StoredClaimline,
  StoredDecision,
  StoredEvidence,
  StoredImage,
  StoredLine,
  StoredLineDecision,
  StoredOrder,
  StoredRecords,
  StoredRender,
  StoredShipment,
  Task,
} from "./work/records.ts";

assertRuntime();
