import { type PartnerClock, PodPartner, PodPartnerError, type PodPartnerOptions } from "pod-partner";
import {
  createEmulator,
  createManualClock,
  type Emulator,
  type EmulatorOptions,
  startEmulator,
} from "pod-partner/testing";
import { createFastClock } from "../../support/fast-clock.ts";
import { harsh } from "../../support/harsh.ts";
import { settle } from "../../support/settle.ts";
import { transports } from "../../support/transports.ts";
import type { Cell, Row } from "./rows.ts";
import type { Settled, Subject } from "./subjects.ts";

/** The timeout of an attempt, in milliseconds: short only where nothing else ends the attempt, since a busy machine is slow. */
const timeoutFor = ({ fault }: Row["fault"]): number => (["slow", "stall", "trickle"].includes(fault) ? 300 : 20_000);

/** Uses an emulator, with the options of a client that reaches it. */
type Use = (emulator: Emulator, over: PodPartnerOptions) => Promise<Cell>;

const overPort = (over: PodPartnerOptions) => async (use: Use, options: EmulatorOptions) => {
  await using emulator = await startEmulator(options);
  return await use(emulator, over);
};

/** The ways to the emulator: all must have the same results. */
export const doors: Readonly<Record<string, (use: Use, options: EmulatorOptions) => Promise<Cell>>> = {
  ...Object.fromEntries(transports.map(({ name, over }) => [`over ${name}`, overPort(over)])),
  "in the process": async (use, options) => {
    const emulator = createEmulator(options);
    return await use(emulator, { fetch: emulator.fetch });
  },
};

/** How time passes while a fault is applied. */
interface Pace {
  readonly clock: PartnerClock;
  readonly emulatorClock?: PartnerClock;
  readonly pass: <T>(call: PromiseLike<T>) => Promise<T>;
  /** Lets the service finish its pending work. */
  readonly finish?: () => Promise<void>;
  /** A busy machine is slow to respond, and that must not change how long a creation is looked up. */
  readonly assumptions?: { readonly processingTime: number };
}

function paceOf({ fault, status }: Row["fault"] & { readonly status?: unknown }, timeout: number): Pace {
  if (fault !== "gateway") {
    const clock = createFastClock(300, { kept: timeout });
    return { clock, pass: async (call) => call, ...(status === 504 ? {} : { assumptions: { processingTime: 1 } }) };
  }
  const clock = createManualClock();
  return { clock, emulatorClock: clock, pass: (call) => settle(clock, call, 5), finish: () => clock.advance(10_000) };
}

const outcomeOf = ({ timeline }: Settled): string =>
  timeline.some(({ step, outcome }) => step === "lookup" && outcome === "found") ? "recovered" : "value";

const nameOf = (error: unknown): string =>
  error instanceof PodPartnerError ? error.name : `no error of ours: ${error}`;

/** Applies a fault to a subject, and returns the result. */
export const playFault = (door: string, { name: _, fault, strikes }: Row, subject: Subject): Promise<Cell> => {
  const timeout = timeoutFor(fault);
  const { clock, emulatorClock, pass, finish, assumptions } = paceOf(fault, timeout);
  const use = doors[door];
  if (use === undefined) throw new Error(`There is no door ${door}`);
  return use(
    async (emulator, over) => {
      const { baseUrl, secretKey } = emulator;
      const setup = new PodPartner({ baseUrl, secretKey, fetch: emulator.fetch, clock });
      const partner = new PodPartner({
        baseUrl,
        secretKey,
        ...over,
        timeout,
        retry: { retries: 2, baseDelay: 0 },
        clock,
        ...(assumptions && { assumptions }),
      });
      const { call, effects } = await pass(subject.prepare(setup, emulator));
      const before = emulator.requests.length;
      emulator.faults.add({
        ...fault,
        ...(strikes === "all" ? {} : { on: subject.on }),
        ...(strikes === "first" ? { nth: 1 } : {}),
      });
      const outcome = await pass(call(partner).withResponse().then(outcomeOf, nameOf));
      const requests = emulator.requests.length - before;
      emulator.faults.clear();
      await finish?.();
      return [outcome, requests, await pass(effects())];
    },
    emulatorClock ? { ...harsh, clock: emulatorClock } : harsh,
  );
};
