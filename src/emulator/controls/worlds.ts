import * as z from "zod/mini";
import type { Issue } from "../../errors/validation.ts";
import { filledText } from "../../schemas/shape.ts";
import { inputError } from "../core/control-error.ts";
import { keyFault } from "../core/real-keys.ts";
import { remoteFault } from "../core/remote.ts";
import type { Emulation } from "../emulation/emulation.ts";
import { allRoutes } from "../routes/table.ts";
import { inconsistencies } from "../state/consistency/inconsistencies.ts";
import { savedWorld } from "../state/saved-world.schema.ts";
import type { SavedWorld } from "../state/saved-world.ts";
import type { Worlds } from "../state/worlds.ts";
import { control } from "./control.ts";

/** Controls that save and restore the whole state. */
export interface WorldControls {
  /**
   * Returns the whole state as JSON: catalog, organizations, orders, claims, files, limits, clock, faults and pending work.
   *
   * @example
   * const saved = JSON.stringify(emulator.world());
   * emulator.load(JSON.parse(saved));
   */
  world(): SavedWorld;
  /**
   * Replaces the whole state by a saved one, as a restart of the service would: requests and callbacks in progress, and an `advance`,
   * end. So do `reset` and `rewind`.
   *
   * @throws {@link ControlError} with the path and the reason of each issue, and nothing is replaced: for a value that is not a saved
   * world, for records that contradict each other, for example an order that names an unknown store, and without the option
   * `allowRemote` for callback URLs of public hosts and for keys that look real.
   */
  load(world: SavedWorld): void;
  /** Goes back to the state at the start. */
  reset(): void;
  /** Keeps the whole state under a name. Default name `default`. */
  checkpoint(options?: { readonly name?: string }): void;
  /** Goes back to the state of a checkpoint, as often as you like. Throws a {@link ControlError} for an unknown name. */
  rewind(options?: { readonly name?: string }): void;
}

/** The callback URLs of stores, and the keys, that look like ones of the real service. */
const realIssues = ({ organizations }: SavedWorld): readonly Issue[] =>
  organizations.flatMap(({ stores, keys }, organization) => {
    const at = ["world", "organizations", organization];
    return [
      ...stores.map(({ callbackUrl }, position) => ({
        path: [...at, "stores", position, "callbackUrl"],
        message: callbackUrl === null ? undefined : remoteFault(callbackUrl),
      })),
      ...keys.map(({ secretKey }, position) => ({
        path: [...at, "keys", position, "secretKey"],
        message: keyFault(secretKey),
      })),
    ].flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]));
  });

function checkWorld({ settings }: Emulation, world: SavedWorld, made: Worlds): void {
  const endpoints = allRoutes().map(({ endpoint }) => endpoint);
  const issues = [...(settings.allowRemote ? [] : realIssues(world)), ...inconsistencies(world, made, endpoints)];
  if (issues.length > 0) throw inputError("The world contradicts itself.", issues);
}

const named = () => ({ name: z._default(filledText(), "default") });

export const worldControls = {
  world: control({
    about: "Returns the whole state as JSON.",
    on: "world",
    required: [],
    fields: () => ({}),
    run: (emulation) => emulation.save(),
  }),
  load: control({
    about: "Replaces the whole state by a saved one.",
    on: "world",
    required: ["world"],
    fields: () => ({ world: savedWorld() }),
    run: (emulation, { world }) => emulation.load(world, (made) => checkWorld(emulation, world, made)),
  }),
  reset: control({
    about: "Goes back to the state at the start.",
    on: "world",
    required: [],
    fields: () => ({}),
    run: (emulation) => emulation.reset(),
  }),
  checkpoint: control({
    about: "Keeps the whole state under a name.",
    on: "world",
    required: [],
    fields: named,
    run: (emulation, { name }) => emulation.checkpoints.keep(name),
  }),
  rewind: control({
    about: "Goes back to the state of a checkpoint.",
    on: "world",
    required: [],
    fields: named,
    run: (emulation, { name }) => emulation.checkpoints.rewind(name),
  }),
};
