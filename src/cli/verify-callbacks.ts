import { setTimeout as sleep } from "node:timers/promises";
import type { RunningEmulator, SentCallback } from "pod-partner/testing";
import type { CallbackFault, FaultRow } from "./verify-catalogue.ts";
import type { VerifyFinding } from "./verify-compare.ts";

/** How a row reaches the callbacks on their way, and the server. */
export interface CallbackScene {
  readonly emulator: RunningEmulator;
  readonly post: Post;
  /** Ends the server with a signal, and starts it again. Resolves when it is ready. */
  restart(signal: NodeJS.Signals): Promise<void>;
  /** Runs the server's own search for what no callback reported. */
  sweep(): Promise<readonly VerifyFinding[]>;
}

/** The way of callbacks to the server. */
export interface Post {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** From now on, callbacks reach the server. */
  release(): void;
}

const heldBack: ReadonlySet<CallbackFault | undefined> = new Set(["late", "reversed", "killed", "never"]);

/** Holds the callbacks back if the row wants it: for the service, a try has failed. */
export function createPost({ callbacks }: FaultRow): Post {
  let isHeld = heldBack.has(callbacks);
  return {
    fetch: (request) => (isHeld ? new Response(null, { status: 503 }) : fetch(request)),
    release: () => {
      isHeld = false;
    },
  };
}

/** Milliseconds to the next try of a callback: of the service's five minutes, as much as a run has of a day. */
const untilRepeated = 1_000;

/** Sends callbacks again, except those that are being delivered: their time is not in the future. */
function resend({ callbacks, clock }: RunningEmulator, isChosen: (callback: SentCallback) => boolean): void {
  const chosen = callbacks.list().filter(isChosen);
  const now = clock.now();
  for (const { id, nextTryAt } of chosen) if (nextTryAt === null || nextTryAt > now) callbacks.resend(id);
}

/**
 * Repeats the callbacks that failed until the signal is aborted, as the service does: the server that was to accept one may have been killed.
 * A row that holds callbacks back delivers them in its own way.
 */
export async function repeatSoon(
  { callbacks }: FaultRow,
  emulator: RunningEmulator,
  signal: AbortSignal,
): Promise<void> {
  if (heldBack.has(callbacks)) return;
  while (!signal.aborted) {
    resend(emulator, ({ status, tries }) => status === "waiting" && tries.length > 0);
    await sleep(untilRepeated, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Lets each order ship that was made, with its callback. */
const shipAll = ({ clock }: RunningEmulator): Promise<void> => clock.advance({ minutes: 1 });

/** Makes the time pass after which the service repeats a callback. Returns how many were never accepted. */
async function repeat(emulator: RunningEmulator): Promise<number> {
  const open = () => emulator.callbacks.list().filter(({ status }) => status !== "delivered").length;
  await shipAll(emulator);
  await emulator.callbacks.idle();
  for (let tries = 0; tries < 6 && open() > 0; tries += 1) {
    await emulator.clock.advance({ minutes: 6 });
    await emulator.callbacks.idle();
  }
  return open();
}

/** Sends all callbacks, also those that were delivered. */
async function sendAll(emulator: RunningEmulator): Promise<void> {
  await emulator.callbacks.idle();
  resend(emulator, () => true);
}

/** A server may accept a callback first, and read the order then. */
const grace = 3_000;

/** Waits until the server has accepted each callback, or has begun to read its order. */
async function untilTaken({ callbacks, clock, requests }: RunningEmulator): Promise<void> {
  const [began, until] = [clock.now(), performance.now() + grace];
  const isRead = (order: string) =>
    requests.where({ on: "orders.get" }).some(({ path, time }) => path.includes(order) && time >= began);
  const isOpen = () =>
    callbacks.list().some(({ status, orderReference }) => status !== "delivered" && !isRead(orderReference));
  while (isOpen() && performance.now() < until) await sleep(20);
}

/** Milliseconds until the kill: by then, a server that accepts a callback first has begun to read the order. */
const untilKill = 300;

/** Each delivers the callbacks that were held back, in its way. */
const deliveries: Readonly<Partial<Record<CallbackFault, (scene: CallbackScene) => Promise<void>>>> = {
  late: async ({ emulator, post, restart }) => {
    await emulator.clock.advance({ hours: 1 });
    await restart("SIGTERM");
    post.release();
    await sendAll(emulator);
  },
  reversed: async ({ emulator, post }) => {
    await shipAll(emulator);
    post.release();
    for (const { id } of emulator.callbacks.list().toReversed()) {
      resend(emulator, (callback) => callback.id === id);
      await emulator.callbacks.idle();
    }
  },
  killed: async ({ emulator, post, restart }) => {
    await shipAll(emulator);
    // The server has not read the order when it is killed.
    const slow = emulator.faults.add({ fault: "slow", ms: grace + 10 * untilKill });
    post.release();
    await sendAll(emulator);
    await untilTaken(emulator);
    await sleep(untilKill);
    slow.remove();
    await restart("SIGKILL");
    await repeat(emulator);
  },
  never: async ({ emulator, sweep }) => {
    await shipAll(emulator);
    await sweep();
  },
};

/** Delivers the callbacks that the row holds back. */
export async function deliver({ callbacks }: FaultRow, scene: CallbackScene): Promise<void> {
  if (callbacks !== undefined) await deliveries[callbacks]?.(scene);
}

/** The orders that were not read since their last shipment: what is new about them is only in the order. */
function unreadOrders({ callbacks, requests }: RunningEmulator): ReadonlySet<string> {
  const shipped = new Map(callbacks.list().map(({ orderReference, tries }) => [orderReference, tries[0]?.at]));
  const read = requests.where({ on: "orders.get", status: 200, outcome: "responded" });
  const wasRead = (order: string, since = 0) => read.some(({ path, time }) => path.includes(order) && time >= since);
  return new Set([...shipped].filter(([order, since]) => !wasRead(order, since)).map(([order]) => order));
}

async function untilRead(emulator: RunningEmulator): Promise<readonly VerifyFinding[]> {
  const until = performance.now() + grace;
  while (unreadOrders(emulator).size > 0 && performance.now() < until) await sleep(50);
  const { size } = unreadOrders(emulator);
  return size === 0 ? [] : [{ kind: "callback", text: `orders that were not read since they shipped: ${size}` }];
}

/** Calls the URL of a callback without what only the service knows: its token. */
async function forge({ callbacks }: RunningEmulator): Promise<readonly VerifyFinding[]> {
  const [sent] = callbacks.list();
  if (sent === undefined) return [];
  const names = [...new URL(sent.url).searchParams.keys()].filter((name) => /token|key|secret|sign/i.test(name));
  if (names.length === 0) return [{ kind: "callback", text: "the URL has no token: anybody can call it" }];
  const findings: VerifyFinding[] = [];
  for (const kind of ["with a wrong", "without a"]) {
    const url = new URL(sent.url);
    for (const name of names) {
      if (kind === "without a") url.searchParams.delete(name);
      else url.searchParams.set(name, "forged");
    }
    const response = await fetch(url, { redirect: "manual" }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) findings.push({ kind: "callback", text: `a callback ${kind} ${names.join(", ")} was accepted` });
  }
  return findings;
}

/** Says what is wrong with the callbacks. */
export async function judgeCallbacks(
  { callbacks }: FaultRow,
  { emulator, post, sweep }: CallbackScene,
): Promise<readonly VerifyFinding[]> {
  if (callbacks === "never") {
    await shipAll(emulator);
    return [...(await sweep()), ...(await untilRead(emulator))];
  }
  post.release();
  let open = await repeat(emulator);
  if (callbacks === "twice") {
    await sendAll(emulator);
    open = await repeat(emulator);
  }
  const forged = callbacks === "forged" ? await forge(emulator) : [];
  // A server that was killed after it had accepted a callback finds the rest in its sweep.
  const isKilled = callbacks === "killed";
  const early = isKilled ? [] : await untilRead(emulator);
  const swept = await sweep();
  const late = isKilled ? await untilRead(emulator) : [];
  const refused: readonly VerifyFinding[] =
    open === 0 ? [] : [{ kind: "callback", text: `callbacks that were never accepted: ${open}` }];
  return [...refused, ...forged, ...early, ...swept, ...late];
}
