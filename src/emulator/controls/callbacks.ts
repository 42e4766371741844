import * as z from "zod/mini";
import type { StoreReference } from "../../references/references.ts";
import { reference } from "../../schemas/shape.ts";
import { ControlError } from "../base/control-error.ts";
import { remoteFault } from "../base/real-service.ts";
import { callbackUrl, type SentCallback } from "../work/callback.ts";
import { control, find } from "./control.ts";

/** Controls that set where callbacks go. */
export interface CallbackUrlControls {
  /**
   * Sets the URL that a store's order-updated callbacks go to, as the partner dashboard does. Null turns them off. The emulator sends
   * requests to this URL. Callbacks that wait go to the new URL, and are stopped without one.
   *
   * @throws {@link ControlError} for a URL that is not http or https, or has credentials before the host, and without the option
   * `allowRemote` for a public host.
   * @example
   * emulator.setCallbackUrl(emulator.demo.stores.api, "http://127.0.0.1:3000/callback?token=secret");
   */
  setCallbackUrl(store: StoreReference, url: string | null): void;
}

/** The order-updated callbacks of the emulator (specification 6). */
export interface CallbackControls {
  /** Returns the callbacks that wait and the last 1000 others, with their tries, oldest first. */
  list(): readonly SentCallback[];
  /**
   * Sends a callback again now, in the background: also one that was delivered, as the service can do. It is repeated until it
   * succeeds.
   *
   * @throws {@link ControlError} for an unknown callback, and for one that is being delivered.
   */
  resend(id: number): void;
  /**
   * Resolves when no callback is being delivered: each has its response, its error or its time-out. It does not wait for postponed
   * callbacks, which the clock repeats 5 minutes later.
   *
   * @example
   * emulator.ship(orderReference);
   * await emulator.callbacks.idle();
   */
  idle(): Promise<void>;
}

export const callbackUrlControls = {
  setCallbackUrl: control({
    about: "Sets the URL that the callbacks of a store go to. Null turns them off.",
    on: "store",
    required: ["store", "url"],
    fields: () => ({ store: reference("Store"), url: z.nullable(callbackUrl()) }),
    run: (emulation, { store, url }) => {
      const fault = url === null || emulation.settings.allowRemote ? undefined : remoteFault(url);
      if (fault !== undefined) throw new ControlError(`url: ${fault}`);
      find(emulation, "stores", store).record.callbackUrl = url;
    },
  }),
};

/** The methods are those of `emulator.callbacks`. */
export const callbackControls = {
  list: control({
    about: "Returns the callbacks with their tries, oldest first.",
    on: "callback",
    run: ({ callbacks }) => callbacks.list(),
  }),
  resend: control({
    about: "Sends a callback again now.",
    on: "callback",
    required: ["id"],
    fields: () => ({ id: z.int() }),
    run: ({ callbacks }, { id }) => callbacks.resend(id),
  }),
  idle: control({
    about: "Waits until no callback is being delivered. It does not wait for postponed ones.",
    on: "callback",
    run: ({ callbacks }) => callbacks.idle(),
  }),
};
