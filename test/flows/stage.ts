import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, type EmulatorOptions, type ManualClock } from "pod-partner/testing";

type Options = NonNullable<ConstructorParameters<typeof PodPartner>[0]>;

/** Moves the clock on, second by second, until a call has come to its end. */
async function settle<T>(clock: ManualClock, call: PromiseLike<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  Promise.resolve(call).then(done, done);
  for (let second = 0; !settled; second++) {
    if (second > 3_600) throw new Error("The call has not ended within an hour");
    await clock.advance(1_000);
  }
  return await call;
}

/** A client and an emulator on one clock that stands still. */
export function setStage(emulatorOptions: EmulatorOptions = {}, options: Options = {}) {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, ...emulatorOptions });
  const { baseUrl, secretKey, fetch } = emulator;
  const connect = (more: Options = {}) =>
    new PodPartner({ baseUrl, secretKey, fetch, clock, retry: { retries: 2 }, ...options, ...more });
  const partner = connect();
  return {
    clock,
    emulator,
    partner,
    /** Another client of the same service, as another process would have. */
    connect,
    /** Waits for a call by moving the clock. */
    settle: <T>(call: PromiseLike<T>) => settle(clock, call),
    /** How many orders there are, by a client of its own. */
    orders: async () => (await settle(clock, connect().orders.list().toArray())).length,
    posts: () => emulator.requests.filter(({ method, path }) => method === "POST" && path === "/orders").length,
  };
}
