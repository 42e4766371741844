/**
 * The emulator of the service.
 *
 * @module pod-partner/testing
 */

import { assertRuntime } from "../util/runtime.ts";

export type { Policy } from "../http/endpoint.ts";
export { ControlError } from "./base/control-error.ts";
export { sampleImage } from "./base/pictures.ts";
export type { DemoCatalog } from "./catalog/catalog.ts";
export { createManualClock, type ManualClock } from "./clock/manual-clock.ts";
export type { Fault } from "./faults/fault.ts";
export type { AddedFault } from "./faults/faults.ts";
export type { Har, LoggedRequest } from "./recorder/logged-request.ts";
export { createEmulator, type Emulator } from "./server/emulator.ts";
export { emulatorHandlers } from "./server/msw.ts";
export type { ParallelWorld, ParallelWorlds } from "./server/parallel-worlds.ts";
export { type RunningEmulator, type StartEmulatorOptions, startEmulator } from "./server/server.ts";
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
export type { EmulatorOptions } from "./settings/options.ts";
export type { Planted, PlantedOrder, PlantedShipment } from "./settings/seed.ts";
export type { SavedWorld } from "./state/saved-world.ts";
export type { SentCallback } from "./work/callback.ts";

assertRuntime();
