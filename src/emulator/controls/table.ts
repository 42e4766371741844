import type { Emulation } from "../state/emulation.ts";
import { type AutomationControls, automationControls } from "./automation.ts";
import { type CallbackUrlControls, callbackControls, callbackUrlControls } from "./callbacks.ts";
import { type CatalogControls, catalogControls } from "./catalog.ts";
import { type ClaimControls, claimControls } from "./claims.ts";
import { clockControls, faultControls, requestControls } from "./clock-and-faults.ts";
import { type Control, methodsOf } from "./control.ts";
import { type KeyControls, keyControls, type LimitControls, limitControls } from "./limits.ts";
import { holdControls, type OrderControls, orderControls } from "./orders.ts";
import { type RenderControls, renderControls } from "./renders.ts";
import { type SeedControls, seedControls } from "./seed.ts";
import { parallelControls, type WorldControls, worldControls } from "./worlds.ts";

/** The controls that are methods of the emulator itself. */
export interface Controls
  extends OrderControls,
    ClaimControls,
    RenderControls,
    CatalogControls,
    CallbackUrlControls,
    AutomationControls,
    LimitControls,
    KeyControls,
    SeedControls,
    WorldControls {}

const methods = {
  ...orderControls,
  ...holdControls,
  ...claimControls,
  ...renderControls,
  ...catalogControls,
  ...callbackUrlControls,
  ...automationControls,
  ...limitControls,
  ...keyControls,
  ...seedControls,
  ...worldControls,
};

/** Makes the methods of the emulator. */
export const createControls = (emulation: Emulation): Controls => methodsOf(methods, emulation);

const named = (prefix: string, group: Readonly<Record<string, Control>>): [string, Control][] =>
  Object.entries(group).map(([name, control]) => [prefix + name, control]);

/** Every control by its name, which is its method of the emulator and the last part of its path: `ship`, `clock.advance`. */
export const allControls: ReadonlyMap<string, Control> = new Map([
  ...named("", methods),
  ...named("callbacks.", callbackControls),
  ...named("clock.", clockControls),
  ...named("faults.", faultControls),
  ...named("worlds.", parallelControls),
  ...named("requests.", requestControls),
]);

/** The controls that only read. */
const reading: ReadonlySet<string> = new Set([
  "world",
  "callbacks.list",
  "callbacks.idle",
  "worlds.list",
  "requests.clear",
]);

const changing: ReadonlyMap<object, string> = new Map(
  [...allControls].filter(([name]) => !reading.has(name)).map(([name, made]) => [made, name]),
);

/** The name of a control that changes the emulated service. */
export const nameOfChange = (made: object): string | undefined => changing.get(made);
