import {
  type KeyValueStorage,
  memoryStorage,
  type PartnerClock,
  PodPartner,
  type PodPartnerOptions,
} from "pod-partner";
import { claimable } from "../../http/matrix/subjects.ts";
import { setUp } from "../../support/setup.ts";

/** How a process ends or waits. */
interface Process extends PodPartnerOptions {
  readonly killAt?: number;
  /** The name of its last request or operation. */
  readonly killAfter?: string;
  readonly suspendAt?: number;
  /** Milliseconds that each operation of its storage takes. */
  readonly slow?: number;
  /** Milliseconds by which the clock of its machine is ahead. */
  readonly ahead?: number;
}

const never = new Promise<never>(() => undefined);

/**
 * Clients with one storage, each a process of its own that can be killed at its n-th request or operation of the storage, or suspended at it
 * until it is resumed.
 */
export function share(options: PodPartnerOptions = {}) {
  const world = setUp();
  const { clock, emulator } = world;
  const shared = memoryStorage({ clock, organization: "shop" });
  let down: "fails" | "hangs" | undefined;
  const start = ({
    killAt = Number.POSITIVE_INFINITY,
    killAfter = "",
    suspendAt,
    slow = 0,
    ahead = 0,
    ...more
  }: Process = {}) => {
    let places = 0;
    let suspended: Promise<void> | undefined;
    let resume: () => void = () => undefined;
    const seen: string[] = [];
    const pass = async (name: string) => {
      places += 1;
      if (places > killAt || seen.includes(killAfter)) await never;
      if (seen.push(name) === suspendAt) {
        suspended = new Promise((resolve) => {
          resume = () => {
            suspended = undefined;
            resolve();
          };
        });
      }
      await suspended;
    };
    const own: PartnerClock = {
      now: () => clock.now(),
      date: () => clock.now() + ahead,
      after: (ms, callback) => clock.after(ms, () => (suspended === undefined ? callback() : suspended.then(callback))),
    };
    const through = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      await pass(name);
      if (slow > 0) await new Promise<void>((resolve) => void clock.after(slow, resolve));
      if (down === "fails") throw new Error("the storage is down");
      const result = down === "hangs" ? await never : await work();
      await pass(`${name} done`);
      return result;
    };
    const storage: KeyValueStorage = {
      ...shared,
      get: (key) => through(`get ${key.split(":")[2]}`, () => shared.get(key)),
      set: (key, ...rest) => through(`set ${key.split(":")[2]}`, () => shared.set(key, ...rest)),
      delete: (key, ...rest) => through(`delete ${key.split(":")[2]}`, () => shared.delete(key, ...rest)),
    };
    const fetch: PodPartnerOptions["fetch"] = async (input, init) => {
      const request = new Request(input, init);
      await pass(`${request.method} ${new URL(request.url).pathname}`);
      const response = await emulator.fetch(request);
      await pass("response");
      return response;
    };
    const hooks = { onStorageLost: () => undefined, ...options.hooks };
    const partner = new PodPartner({
      ...emulator.clientOptions,
      clock: own,
      fetch,
      storage,
      ...options,
      ...more,
      hooks: { ...hooks, ...more.hooks },
    });
    return { partner, seen, resume: () => resume(), requests: () => seen.filter((each) => /^(GET|POST) /.test(each)) };
  };
  /** Starts a call in a process that is killed, and never ends. */
  const kill = (how: Process, call: (partner: PodPartner) => PromiseLike<unknown>) => {
    const process = start(how);
    void Promise.resolve(call(process.partner)).catch(() => undefined);
    return process;
  };
  return {
    ...world,
    start,
    kill,
    storage: shared,
    lose: (how: "fails" | "hangs" | undefined) => {
      down = how;
    },
  };
}

/** The same, with a shipment and a claim about one item of it. */
export async function shareClaim(options: PodPartnerOptions = {}) {
  const world = share(options);
  const { partner, settle, emulator, connect } = world;
  return {
    ...world,
    claim: await settle(claimable(partner, emulator)),
    listed: () => settle(connect().claims.list().toArray()),
  };
}
