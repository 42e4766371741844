import * as z from "zod/mini";
import { span } from "../clock/point-in-time.ts";
import type { Fault } from "../faults/fault.ts";
import { faultSchema } from "../faults/faults.ts";
import { control } from "./control.ts";

/** The controls of the clock. The methods are those of `emulator.clock`. */
export const clockControls = {
  advance: control({
    about: "Moves the time forward. Everything that becomes due happens at its own time, callbacks included.",
    on: "clock",
    required: ["span"],
    fields: () => ({ span: span() }),
    run: ({ clock }, input) => clock.advance(input.span),
  }),
  set: control({
    about: "Moves the time forward to a point in time.",
    on: "clock",
    required: ["time"],
    fields: () => ({
      time: z.union([z.string(), z.number()], "expected an ISO 8601 string or milliseconds since 1970"),
    }),
    run: ({ clock }, { time }) => clock.set(time),
  }),
  freeze: control({
    about: "Stops the time.",
    on: "clock",
    run: ({ clock }) => clock.freeze(),
  }),
  resume: control({
    about: "Lets the time pass, faster with a speed above 1.",
    on: "clock",
    fields: () => ({ speed: z._default(z.number().check(z.gt(0)), 1) }),
    run: ({ clock }, { speed }) => clock.resume({ speed }),
  }),
};

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
    run: ({ faults }) => faults.clear(),
  }),
};

/** The controls of the log. The methods are those of `emulator.requests`. */
export const requestControls = {
  clear: control({
    about: "Removes all requests from the log.",
    on: "request",
    run: ({ requests }) => requests.clear(),
  }),
};
