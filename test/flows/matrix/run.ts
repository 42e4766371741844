import { PodPartner, PodPartnerError } from "pod-partner";
import { createEmulator, type Emulator, startEmulator } from "pod-partner/testing";
import { createHastyClock } from "../../support/hasty-clock.ts";
import type { Cell, Row } from "./rows.ts";
import type { Settled, Subject } from "./subjects.ts";

/** Milliseconds that an attempt may take: short only where nothing else would end it, since a busy machine takes long for any. */
const timeoutFor = ({ fault }: Row["fault"]): number => (["slow", "stall", "trickle"].includes(fault) ? 300 : 20_000);

/** The two ways to the emulator: each must come to the same. */
export const doors = {
  "over a port": async (use: (emulator: Emulator, fetch?: Emulator["fetch"]) => Promise<Cell>) => {
    await using emulator = await startEmulator();
    return await use(emulator);
  },
  "in the process": async (use: (emulator: Emulator, fetch?: Emulator["fetch"]) => Promise<Cell>) => {
    const emulator = createEmulator();
    return await use(emulator, emulator.fetch);
  },
};

const outcomeOf = ({ attempts }: Settled): string =>
  attempts.some(({ step, outcome }) => step === "lookup" && outcome === "found") ? "recovered" : "value";

const nameOf = (error: unknown): string =>
  error instanceof PodPartnerError ? error.name : `no error of ours: ${error}`;

/** Lets a fault strike a subject, and tells what has come of it. */
export const play = (door: keyof typeof doors, { name: _, fault, strikes }: Row, subject: Subject): Promise<Cell> =>
  doors[door](async (emulator, fetch) => {
    const { baseUrl, secretKey } = emulator;
    const setup = new PodPartner({ baseUrl, secretKey, fetch: emulator.fetch });
    const timeout = timeoutFor(fault);
    const partner = new PodPartner({
      baseUrl,
      secretKey,
      fetch,
      timeout,
      retry: { retries: 2, minDelay: 0 },
      clock: createHastyClock(300, { kept: timeout }),
    });
    const { call, effects } = await subject.prepare(setup, emulator);
    const before = emulator.requests.length;
    emulator.faults.add({
      ...fault,
      ...(strikes === "all" ? {} : { on: subject.on }),
      ...(strikes === "first" ? { nth: 1 } : {}),
    });
    const outcome = await call(partner).withResponse().then(outcomeOf, nameOf);
    const requests = emulator.requests.length - before;
    emulator.faults.clear();
    return [outcome, requests, await effects()];
  });
