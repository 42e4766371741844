import * as z from "zod/mini";
import { faultSchema } from "../faults/fault.schema.ts";
import type { Fault } from "../faults/fault.ts";
import { control } from "./control.ts";

/** The controls of the faults. The methods are those of `emulator.faults`. */
export const faultControls = {
  add: control({
    about: "Adds a fault between clients and the emulator. Returns its id.",
    on: "fault",
    required: ["fault"],
    fields: () => ({ fault: faultSchema() }),
    run: ({ faults }, { fault }) => ({ id: faults.add(fault as Fault).id }),
  }),
  remove: control({
    about: "Removes a fault.",
    on: "fault",
    required: ["id"],
    fields: () => ({ id: z.int() }),
    run: ({ faults }, { id }) => faults.remove(id),
  }),
  clear: control({
    about: "Removes all faults.",
    on: "fault",
    required: [],
    fields: () => ({}),
    run: ({ faults }) => faults.clear(),
  }),
};
