import { control } from "./control.ts";

/** The controls of the log. The methods are those of `emulator.requests`. */
export const requestControls = {
  clear: control({
    about: "Removes all requests from the log.",
    on: "request",
    required: [],
    fields: () => ({}),
    run: ({ requests }) => requests.clear(),
  }),
};
