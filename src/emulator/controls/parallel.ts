import * as z from "zod/mini";
import { count, filledText } from "../../schemas/shape.ts";
import { ControlError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { EmulatorOptions } from "../settings/options.ts";
import { seedRecords } from "../settings/seed.schema.ts";
import type { IsolatedWorlds } from "../state/isolated-worlds.ts";
import { control } from "./control.ts";

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
    required: [],
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
    required: [],
    fields: () => ({}),
    run: (emulation) => worldsOf(emulation).names,
  }),
};
