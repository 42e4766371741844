import * as z from "zod/mini";
import { filledText } from "../../schemas/shape.ts";
import { remoteFault } from "../remote.ts";
import { inconsistencies } from "../state/consistency.ts";
import { savedWorld } from "../state/saved-world.schema.ts";
import type { SavedWorld } from "../state/saved-world.ts";
import { control } from "./control.ts";
import { ControlError } from "./control-error.ts";

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
  /** Replaces the whole state by a saved one. Throws a {@link ControlError} for a value that is not a saved world, and for
   * records that contradict each other, for example an order that names an unknown store, and without the option `allowRemote` for
   * callback URLs of public hosts. */
  load(world: SavedWorld): void;
  /** Goes back to the state at the start. */
  reset(): void;
  /** Keeps the whole state under a name. Default name `default`. */
  checkpoint(options?: { readonly name?: string }): void;
  /** Goes back to the state of a checkpoint, as often as you like. Throws a {@link ControlError} for an unknown name. */
  rewind(options?: { readonly name?: string }): void;
}

/** Throws for a store whose callbacks go to a public host. */
function refuseRemote({ organizations }: SavedWorld): void {
  for (const { reference, callbackUrl } of organizations.flatMap(({ stores }) => stores)) {
    const url = String(callbackUrl);
    const fault = URL.canParse(url) ? remoteFault(url) : undefined;
    if (fault !== undefined) throw new ControlError(`The callback URL of ${reference}: ${fault}`);
  }
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
    run: (emulation, { world }) => {
      if (!emulation.settings.allowRemote) refuseRemote(world);
      const wrong = inconsistencies(world);
      if (wrong.length > 0)
        throw new ControlError(`The world contradicts itself.${wrong.map((one) => `\n  ${one}`).join("")}`);
      emulation.load(world);
    },
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
