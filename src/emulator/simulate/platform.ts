import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { CallTrace } from "../../http/tracing.ts";
import { onAbort } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { propertyOf } from "../../util/foreign.ts";

/** The time and the chance of the code that runs in it, instead of those of the platform. */
export interface Surroundings {
  /** `now` is in milliseconds since 1970. */
  readonly clock: PartnerClock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Gets what would end the process: an exception, or a rejection, that nothing catches. */
  readonly crash: (error: unknown) => void;
  /** Gets each call of a client that begins, and each that fails. */
  readonly onCall: (call: CallTrace) => void;
  readonly onCallFailed: (call: CallTrace) => void;
  /** Gets each time for which it waits, in milliseconds. */
  readonly onWait: (ms: number) => void;
}

/** Where code runs: its surroundings, and the call of a client that it is a part of. */
interface CallPlace {
  readonly own: Surroundings;
  readonly call: CallTrace | undefined;
}

const places = new AsyncLocalStorage<CallPlace | undefined>();
const currentSurroundings = (): Surroundings | undefined => places.getStore()?.own;

/** The client's call that the current code is a part of. */
export const callOf = (): CallTrace | undefined => places.getStore()?.call;

/** Runs code whose timers, dates and random numbers are those of `own`, also after each `await`. Needs {@link replacePlatform}. */
export const runIn = <T>(own: Surroundings, work: () => T): T => places.run({ own, call: undefined }, work);

/** Runs code without surroundings: that of the emulator, whatever has called it. */
export const runOutside = <T>(work: () => T): T => places.run(undefined, work);

type Callback = (...given: unknown[]) => void;

/** What `setTimeout` and `setInterval` return: the part of Node's `Timeout` that programs use. */
class VirtualTimer {
  readonly #start: () => () => void;
  #stop: () => void;

  constructor(start: () => () => void) {
    this.#start = start;
    this.#stop = start();
  }

  readonly ref = () => this;
  readonly unref = () => this;
  readonly hasRef = () => true;
  readonly refresh = () => {
    this.close();
    this.#stop = this.#start();
    return this;
  };
  readonly close = () => {
    this.#stop();
    return this;
  };
  readonly [Symbol.dispose] = () => void this.close();
}

const setTimer = ({ clock }: Surroundings, callback: Callback, ms = 0, ...given: unknown[]) =>
  new VirtualTimer(() => clock.after(Number(ms) || 0, () => callback(...given)));

const setRepeatedTimer = ({ clock }: Surroundings, callback: Callback, ms = 0, ...given: unknown[]) =>
  new VirtualTimer(() => {
    const arm = (): (() => void) =>
      clock.after(Math.max(Number(ms) || 0, 1), () => {
        stop = arm();
        callback(...given);
      });
    let stop = arm();
    return () => stop();
  });

interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

const sleep = <T>(
  { clock, onWait }: Surroundings,
  ms = 0,
  value?: T,
  { signal }: Abortable = {},
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    onWait(ms);
    let stopListening = () => {};
    const stop = clock.after(ms, () => {
      stopListening();
      resolve(value);
    });
    if (signal === undefined) return;
    stopListening = onAbort(signal, (cause) => {
      stop();
      reject(new DOMException("The operation was aborted", { name: "AbortError", cause }));
    });
  });

async function* repeatedly<T>(own: Surroundings, ms = 1, value?: T, options: Abortable = {}) {
  for (;;) yield await sleep(own, ms, value, options);
}

function abortAfter({ clock }: Surroundings, ms: number): AbortSignal {
  const controller = new AbortController();
  clock.after(ms, () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")));
  return controller.signal;
}

const bytesFrom = ({ random }: Surroundings, count: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: count }, () => random() * 256);

function fillRandomly<View extends ArrayBufferView>(own: Surroundings, view: View): View {
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytesFrom(own, view.byteLength));
  return view;
}

function randomIdentifier(own: Surroundings): string {
  const digits = Buffer.from(bytesFrom(own, 16)).toString("hex");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}

/** At once: the platform hashes in another thread, and no virtual clock can wait for it. */
async function digest(_: Surroundings, algorithm: unknown, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer> {
  const name = String(propertyOf(algorithm, "name") ?? algorithm).replace("-", "");
  const view = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
  return new Uint8Array(createHash(name).update(view).digest()).buffer;
}

/** `Date` as it is, with the time of the surroundings. */
const virtualDate = (real: DateConstructor): DateConstructor => {
  const now = () => currentSurroundings()?.clock.now() ?? real.now();
  return new Proxy(real, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
};

type PlatformFunction = (...given: unknown[]) => unknown;

/** Undoes what {@link replacePlatform} has replaced. */
let restore: (() => void)[] = [];
let users = 0;

function replace(owner: object, name: string, make: (real: PlatformFunction) => unknown): void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const real: unknown = Reflect.get(owner, name);
  if (typeof real !== "function") return;
  const value = make((...given) => Reflect.apply(real, owner, given));
  const made = { value, configurable: true, writable: true, enumerable: before?.enumerable ?? false };
  if (!Reflect.defineProperty(owner, name, made)) return;
  restore.push(() =>
    before === undefined ? Reflect.deleteProperty(owner, name) : Reflect.defineProperty(owner, name, before),
  );
}

/** Replaces a method, which differs inside of surroundings. */
const replaceInside = <Given extends unknown[]>(
  owner: object,
  name: string,
  own: (surroundings: Surroundings, ...given: Given) => unknown,
): void =>
  replace(owner, name, (real) => (...given: Given) => {
    const current = currentSurroundings();
    return current === undefined ? real(...given) : own(current, ...given);
  });

const cancelTimer = (real: PlatformFunction) => (timer: unknown) =>
  timer instanceof VirtualTimer ? void timer.close() : real(timer);

/** What would end the process, or fail the test, ends the life that it comes from. */
const emitUnlessInside =
  (real: PlatformFunction) =>
  (...given: unknown[]) => {
    const [event, error] = given;
    const current = currentSurroundings();
    if (current === undefined || (event !== "unhandledRejection" && event !== "uncaughtException"))
      return real(...given);
    current.crash(error);
    return true;
  };

function replaceAll(): void {
  const [timers, promises, nodeCrypto] = ["node:timers", "node:timers/promises", "node:crypto"].map((name) =>
    Object(process.getBuiltinModule(name)),
  );
  for (const owner of [globalThis, timers]) {
    replaceInside(owner, "setTimeout", setTimer);
    replaceInside(owner, "setInterval", setRepeatedTimer);
    replace(owner, "clearTimeout", cancelTimer);
    replace(owner, "clearInterval", cancelTimer);
  }
  replaceInside(promises, "setTimeout", sleep);
  replaceInside(promises, "setInterval", repeatedly);
  replaceInside(promises.scheduler, "wait", (own, ms: number, options?: Abortable) =>
    sleep(own, ms, undefined, options),
  );
  replaceInside(AbortSignal, "timeout", abortAfter);
  replace(process.getBuiltinModule("node:process"), "emit", emitUnlessInside);
  const RealDate = Date;
  replace(globalThis, "Date", () => virtualDate(RealDate));
  replaceInside(performance, "now", ({ clock }) => clock.now() - performance.timeOrigin);
  replaceInside(Math, "random", ({ random }) => random());
  replaceInside(crypto, "getRandomValues", fillRandomly);
  replaceInside(crypto.subtle, "digest", digest);
  replaceInside(crypto, "randomUUID", randomIdentifier);
  replaceInside(nodeCrypto, "randomUUID", randomIdentifier);
  replaceInside(nodeCrypto, "randomBytes", (own, count: number) => Buffer.from(bytesFrom(own, count)));
}

/** The look-ups of a call are parts of it. */
function enterCall(call: CallTrace): CallPlace | undefined {
  const place = places.getStore();
  if (place === undefined || call.isPart) return place;
  place.own.onCall(call);
  return { own: place.own, call };
}

function failCall(message: unknown): void {
  const call = message as CallTrace;
  if (!call.isPart) currentSurroundings()?.onCallFailed(call);
}

/** What clients do, of this copy of the SDK and of others. */
function followCalls(): void {
  const { start, error } = process
    .getBuiltinModule("node:diagnostics_channel")
    .tracingChannel<CallPlace | undefined, CallTrace>("pod-partner:call");
  start.bindStore(places, enterCall);
  error.subscribe(failCall);
  restore.push(() => {
    start.unbindStore(places);
    error.unsubscribe(failCall);
  });
}

/** What programs import by name from a module of Node changes, too. */
const updateImports = () => process.getBuiltinModule("node:module").syncBuiltinESMExports();

/**
 * Replaces timers, dates and random numbers of the platform. Nothing changes outside of {@link runIn}, so it does not matter what else the
 * process does: the tests beside it keep their time. Returns a function that restores them after the last user.
 */
export function replacePlatform(): () => void {
  users += 1;
  if (users === 1) {
    replaceAll();
    followCalls();
    updateImports();
  }
  return () => {
    users -= 1;
    if (users > 0) return;
    for (const undo of restore.reverse()) undo();
    restore = [];
    updateImports();
  };
}
