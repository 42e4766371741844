import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, type EmulatorOptions } from "pod-partner/testing";
import { harsh } from "./harsh.ts";
import { settle } from "./settle.ts";

type Options = NonNullable<ConstructorParameters<typeof PodPartner>[0]>;

/** A client and a harsh emulator on one clock that does not move by itself. */
export function setUp(emulatorOptions: EmulatorOptions = {}, options: Options = {}) {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, ...harsh, ...emulatorOptions });
  const { baseUrl, secretKey, fetch } = emulator;
  const connect = (more: Options = {}) =>
    new PodPartner({ baseUrl, secretKey, fetch, clock, retry: { retries: 2 }, ...options, ...more });
  const partner = connect();
  return {
    clock,
    emulator,
    partner,
    /** Another client of the same service, as in another process. */
    connect,
    /** Waits for a call by moving the clock. */
    settle: <T>(call: PromiseLike<T>) => settle(clock, call),
    /** The number of orders, counted by a client of its own. */
    orders: async () => (await settle(clock, connect().orders.list().toArray())).length,
    posts: () => emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders").length,
  };
}
