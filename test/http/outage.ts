// A client loads ky lazily: a clock that moves earlier could reach a call's timeout before the call is sent.
import "ky";
import { type OrderReference, PodPartner } from "pod-partner";
import { createEmulator, createManualClock, type Emulator } from "pod-partner/testing";
import { createRandom } from "../soak/random.ts";
import { fetchFailed } from "../support/fetch-failed.ts";
import { settle } from "../support/settle.ts";
import { orderOf } from "./matrix/subjects.ts";

const unavailable = async (headers?: Record<string, string>) =>
  new Response("<h1>Unavailable</h1>", { status: 503, headers: { "content-type": "text/html", ...headers } });

/** How a request fails in an outage, as Node's `fetch` reports it. */
const failures = {
  "503": () => unavailable(),
  "503, Retry-After: 0": () => unavailable({ "retry-after": "0" }),
  refused: () => Promise.reject(fetchFailed("ECONNREFUSED", "connect")),
  unresolved: () => Promise.reject(fetchFailed("EAI_AGAIN", "getaddrinfo")),
};

export type OutageKind = keyof typeof failures;
export const outageKinds = Object.keys(failures) as OutageKind[];

/** What the calls of an outage do. */
const calls = {
  read: (partner: PodPartner) => partner.organization.stores.list(),
  change: (partner: PodPartner, _: Emulator, order: OrderReference) =>
    partner.orders.cancel(order, [{ index: 1, canceledQuantity: 1 }]),
  creation: (partner: PodPartner, emulator: Emulator, _: OrderReference, n: number) =>
    partner.orders.create(orderOf(emulator, `shop-${n}`)),
};

export type OutageCall = keyof typeof calls;
export const outageCalls = Object.keys(calls) as OutageCall[];

export interface Outage {
  readonly kind: OutageKind;
  /** Its length in milliseconds. */
  readonly length: number;
  readonly call?: OutageCall;
  readonly count?: number;
  /** Milliseconds of every response and failure. */
  readonly latency?: number;
  readonly seed?: number;
  /** When the calls begin, as a part of the outage; by default at any instant. */
  readonly from?: number;
  readonly to?: number;
}

/** What the calls that began in an outage met. Times in milliseconds since the outage began. */
export interface OutageReport {
  readonly succeeded: number;
  /** The orders that exist in the end. */
  readonly created: number;
  readonly requests: number;
  /** The most requests in any second after the outage. */
  readonly busiest: number;
  /** When the last call ended. */
  readonly ended: number;
  /** The longest call that failed. */
  readonly patience: number;
}

/** Begins calls at random instants of an outage, in virtual time, and waits for all of them. */
export async function meetOutage(outage: Outage): Promise<OutageReport> {
  const { kind, length, call = "read", count = 1_000, latency = 0, seed = 1, from = 0, to = 1 } = outage;
  const random = Math.random;
  const next = createRandom(seed);
  Math.random = next;
  try {
    const clock = createManualClock();
    const emulator = createEmulator({ clock, seed: { orders: 1 } });
    const began = clock.now();
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
    const sent: number[] = [];
    const fetch = async (request: Request, init?: RequestInit) => {
      const at = clock.now() - began;
      sent.push(at);
      const fails = at < length;
      if (latency > 0) await wait(latency);
      return fails ? await failures[kind]() : await emulator.fetch(request, init);
    };
    const { baseUrl, secretKey } = emulator;
    const { orders } = new PodPartner({ baseUrl, secretKey, fetch: emulator.fetch });
    const [order] = await orders.list().toArray();
    if (order === undefined) throw new Error("the emulator has no order");
    const partner = new PodPartner({ baseUrl, secretKey, fetch, clock });
    let succeeded = 0;
    let patience = 0;
    const one = async (n: number) => {
      await wait((from + next() * (to - from)) * length);
      const start = clock.now();
      try {
        await calls[call](partner, emulator, order.reference, n);
        succeeded += 1;
      } catch {
        patience = Math.max(patience, clock.now() - start);
      }
    };
    await settle(clock, Promise.all(Array.from({ length: count }, (_, n) => one(n))));
    const created = (await orders.list().toArray()).length - 1;
    const after = sent.filter((at) => at >= length);
    let busiest = 0;
    for (let first = 0, last = 0; last < after.length; last += 1) {
      while ((after[last] ?? 0) - (after[first] ?? 0) >= 1_000) first += 1;
      busiest = Math.max(busiest, last - first + 1);
    }
    return { succeeded, created, requests: sent.length, busiest, ended: clock.now() - began, patience };
  } finally {
    Math.random = random;
  }
}
