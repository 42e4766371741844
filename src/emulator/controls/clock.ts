import * as z from "zod/mini";
import { span } from "../clock/span.schema.ts";
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
    required: [],
    fields: () => ({}),
    run: ({ clock }) => clock.freeze(),
  }),
  resume: control({
    about: "Lets the time pass, faster with a speed above 1.",
    on: "clock",
    required: [],
    fields: () => ({ speed: z._default(z.number().check(z.gt(0)), 1) }),
    run: ({ clock }, { speed }) => clock.resume({ speed }),
  }),
};
