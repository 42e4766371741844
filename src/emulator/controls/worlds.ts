import * as z from "zod/mini";
import type { Issue } from "../../errors/validation.ts";
import { count, filledText } from "../../schemas/shape.ts";
import { ControlError, inputError } from "../base/control-error.ts";
import { keyFault, remoteFault } from "../base/real-service.ts";
import { allEndpoints } from "../routes/table.ts";
import type { EmulatorOptions } from "../settings/options.ts";
import { seedRecords } from "../settings/seed.ts";
import { inconsistencies } from "../state/consistency.ts";
import type { Emulation, IsolatedWorlds } from "../state/emulation.ts";
import { savedWorld } from "../state/saved-world.schema.ts";
import type { SavedWorld } from "../state/saved-world.ts";
import type { Worlds } from "../state/world.ts";
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
  const issues = [...(settings.allowRemote ? [] : realIssues(world)), ...inconsistencies(world, made, allEndpoints)];
  if (issues.length > 0) throw inputError("The world contradicts itself.", issues);
}

const named = () => ({ name: z._default(filledText(), "default") });

export const worldControls = {
  world: control({
    about: "Returns the whole state as JSON.",
    on: "world",
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
    run: (emulation) => emulation.reset(),
  }),
  checkpoint: control({
    about: "Keeps the whole state under a name.",
    on: "world",
    fields: named,
    run: (emulation, { name }) => emulation.checkpoints.keep(name),
  }),
  rewind: control({
    about: "Goes back to the state of a checkpoint.",
    on: "world",
    fields: named,
    run: (emulation, { name }) => emulation.checkpoints.rewind(name),
  }),
};

type Seed = NonNullable<EmulatorOptions["seed"]>;

function worldsOf({ parallel }: Emulation): IsolatedWorlds {
  if (parallel !== undefined) return parallel;
  throw new ControlError("Only the first world of an emulator on a port has isolated worlds");
}

const seed = () =>
  z.optional(z.strictObject({ number: z.optional(count(0)), ...seedRecords() }) as z.ZodMiniType<Seed>);

/** The controls of isolated worlds. The methods are those of `emulator.worlds`. */
export const parallelControls = {
  create: control({
    about: "Makes an isolated world with its own base URL. Returns its name, base URL and key.",
    on: "world",
    fields: () => ({ name: z.optional(filledText()), seed: seed() }),
    run: (emulation, { name, seed }) => {
      const world = worldsOf(emulation).create({
        ...(name === undefined ? {} : { name }),
        ...(seed === undefined ? {} : { seed }),
      });
      return { name: world.name, baseUrl: world.baseUrl, secretKey: world.secretKey };
    },
  }),
  remove: control({
    about: "Removes an isolated world.",
    on: "world",
    required: ["name"],
    fields: () => ({ name: filledText() }),
    run: (emulation, { name }) => worldsOf(emulation).remove(name),
  }),
  list: control({
    about: "Returns the names of the isolated worlds.",
    on: "world",
    run: (emulation) => worldsOf(emulation).names,
  }),
};
