import pThrottle from "p-throttle";
import { abortController } from "../../util/abort-signals.ts";
import { Slots } from "../../util/concurrency.ts";
import { ControlError } from "../base/control-error.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import type { Agenda, Due } from "./agenda.ts";
import {
  type CallbackSettings,
  type SendingCallback,
  type SentCallback,
  type StoredCallback,
  sendCallback,
  skippedCallback,
} from "./callback.ts";
import type { StoredOrder, Task } from "./records.ts";

/** The number of time-outs, one after the other, for which one move of the clock waits. Time-outs at the same time count as one. */
const waits = 3;

interface Silence {
  count: number;
  /** When the last counted time-out ended, by the clock of the connection. */
  until: number;
}

/**
 * The receivers that did not respond while the clock moves. A move of three days has 864 tries of one callback: to wait for each time-out
 * would take hours.
 */
class SilentReceivers {
  readonly #clock: WorldClock;
  readonly #silences = new Map<string, Silence>();
  #move = 0;

  constructor(clock: WorldClock) {
    this.#clock = clock;
  }

  /** Whether the rest of this move does not call the receiver. Each move starts anew. */
  isSkipped(url: string): boolean {
    const { current } = this.#clock.moves;
    if (current !== this.#move) this.#silences.clear();
    this.#move = current;
    return this.#move !== 0 && (this.#silences.get(new URL(url).origin)?.count ?? 0) >= waits;
  }

  /** Notes the end of a try that began at `begun`, by the clock of the connection. */
  note(url: string, begun: number, timedOut: boolean): void {
    const { origin } = new URL(url);
    const { count, until } = this.#silences.get(origin) ?? { count: 0, until: begun };
    if (!timedOut) this.#silences.delete(origin);
    else if (begun >= until) this.#silences.set(origin, { count: count + 1, until: this.#clock.wire.now() });
  }
}

/** From the end of a failed try to the next one, in milliseconds of the emulator's clock (specification 6, rule 4). */
const postponed = 5 * 60_000;

/** The number of finished callbacks that are kept. Callbacks that wait are all kept. */
const keptCallbacks = 1000;
/** The number of tries that are kept of each callback. */
const keptTries = 20;
/** The number of callbacks that are sent at the same time. */
const concurrency = 32;

interface Parts {
  readonly clock: WorldClock;
  readonly agenda: Agenda<Task>;
  readonly settings: CallbackSettings;
  /** The URL of an order's callback; undefined when its store has none. */
  readonly urlOf: (order: SentCallback["orderReference"]) => string | undefined;
  /** A try has ended. */
  readonly onChange: (callback: SentCallback) => void;
}

/** Sends order-updated callbacks in the background, repeats them until they succeed, and keeps a log (specification 6). */
export class CallbackOutbox {
  readonly #parts: Parts;
  readonly #callbacks = new Map<number, StoredCallback>();
  /** The ids of the callbacks that do not wait, in the order in which they ended. */
  #finished: number[] = [];
  #latest = 0;
  readonly #slots = new Slots(concurrency);
  readonly #deliveries = new Set<Promise<void>>();
  /** The callbacks that are being delivered, with the try once it has begun. */
  readonly #current = new Map<StoredCallback, SendingCallback | undefined>();
  readonly #silent: SilentReceivers;
  readonly #closing = abortController();
  /** Resolves when the next callback may be sent. */
  readonly #turn: () => Promise<void>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#silent = new SilentReceivers(parts.clock);
    const { perSecond } = parts.settings;
    const turn = async () => {};
    const throttle = { interval: 1000, strict: true, signal: this.#closing.signal };
    this.#turn = perSecond === undefined ? turn : pThrottle({ limit: perSecond, ...throttle })(turn);
  }

  /** Sends the callback of an order whose store has a callback URL, and its duplicates. */
  orderUpdated({ reference, storeReference }: StoredOrder): void {
    const url = this.#parts.urlOf(reference);
    if (url === undefined) return;
    for (let copy = 0; copy <= this.#parts.settings.duplicates; copy += 1) {
      this.#latest += 1;
      const callback: StoredCallback = {
        id: this.#latest,
        orderReference: reference,
        storeReference,
        url,
        status: "waiting",
        nextTryAt: null,
        tried: 0,
        tries: [],
      };
      this.#callbacks.set(callback.id, callback);
      this.#deliver(callback);
    }
  }

  /** Sends a callback whose time has come. */
  carryOut(id: number): void {
    const callback = this.#callbacks.get(id);
    if (callback?.status === "waiting" && !this.#current.has(callback)) this.#deliver(callback);
  }

  /** Sends a callback again now. Throws a {@link ControlError} for an unknown one and for one that is being delivered. */
  resend(id: number): void {
    const callback = this.#callbacks.get(id);
    if (callback === undefined) throw new ControlError(`The emulator has no callback ${id}`);
    if (this.#current.has(callback)) throw new ControlError(`The callback ${id} is being delivered now`);
    this.#parts.agenda.remove((task) => task.kind === "callback" && task.id === id);
    this.#finished = this.#finished.filter((other) => other !== id);
    callback.status = "waiting";
    this.#deliver(callback);
  }

  /** Resolves when no callback is being delivered. It does not wait for postponed ones. */
  async idle(): Promise<void> {
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries);
  }

  /** All callbacks of the log, oldest first: copies, which later changes do not reach. */
  list(): readonly SentCallback[] {
    return structuredClone([...this.#callbacks.values()]);
  }

  /** The callbacks for a saved world. */
  save(): readonly SentCallback[] {
    return [...this.#callbacks.values()];
  }

  /** The deliveries in progress, as tasks: a saved world begins them again. */
  saveDeliveries(): readonly Due<Task>[] {
    return Array.from(this.#current.keys(), ({ id, nextTryAt }) => ({
      at: nextTryAt ?? 0,
      task: { kind: "callback", id },
    }));
  }

  /** Replaces all callbacks. Ends the deliveries in progress. */
  load(callbacks: readonly SentCallback[]): void {
    this.#stop("the state of the emulator was replaced");
    this.#callbacks.clear();
    this.#latest = 0;
    for (const callback of callbacks) {
      this.#callbacks.set(callback.id, { ...callback });
      this.#latest = Math.max(this.#latest, callback.id);
    }
    this.#finished = callbacks.filter(({ status }) => status !== "waiting").map(({ id }) => id);
  }

  /** Ends the deliveries in progress, and sends nothing any more. */
  close(): void {
    this.#closing.abort();
    this.#stop("the emulator was closed");
  }

  #stop(reason: string): void {
    for (const sending of this.#current.values()) sending?.stop(reason);
    // A world that is saved after `close` still has what waits.
    if (!this.#closing.signal.aborted) this.#current.clear();
  }

  #deliver(callback: StoredCallback): void {
    callback.nextTryAt = this.#parts.clock.now();
    this.#current.set(callback, undefined);
    const delivery: Promise<void> = this.#tryInTurn(callback).finally(() => this.#deliveries.delete(delivery));
    this.#deliveries.add(delivery);
    this.#parts.clock.track(delivery);
  }

  async #tryInTurn(callback: StoredCallback): Promise<void> {
    const { signal } = this.#closing;
    try {
      const giveBack = await this.#slots.take(signal);
      try {
        await this.#turn();
        await this.#try(callback);
      } finally {
        giveBack();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #try(callback: StoredCallback): Promise<void> {
    if (this.#closing.signal.aborted || !this.#current.has(callback)) return;
    const { clock, settings, urlOf } = this.#parts;
    const url = urlOf(callback.orderReference);
    if (url === undefined) return this.#finish(callback, "stopped");
    const at = clock.now();
    callback.url = url;
    const begun = clock.wire.now();
    const sending = this.#silent.isSkipped(url) ? skippedCallback : sendCallback(url, settings, clock.wire);
    this.#current.set(callback, sending);
    const result = await sending.result;
    // The state was replaced, or the emulator was closed.
    if (this.#closing.signal.aborted || !this.#current.has(callback)) return;
    if (sending !== skippedCallback) {
      this.#silent.note(url, begun, result.status === null && result.duration >= settings.timeout);
    }
    callback.tried += 1;
    callback.tries = [...callback.tries, { at, ...result }].slice(-keptTries);
    if (result.status !== null && result.status >= 200 && result.status < 300) this.#finish(callback, "delivered");
    else this.#postpone(callback);
  }

  #postpone(callback: StoredCallback): void {
    this.#current.delete(callback);
    callback.nextTryAt = this.#parts.clock.now() + postponed;
    this.#parts.agenda.add(callback.nextTryAt, { kind: "callback", id: callback.id });
    this.#parts.onChange(callback);
  }

  #finish(callback: StoredCallback, status: "delivered" | "stopped"): void {
    this.#current.delete(callback);
    callback.status = status;
    callback.nextTryAt = null;
    this.#finished.push(callback.id);
    const oldest = this.#finished.length > keptCallbacks ? this.#finished.shift() : undefined;
    if (oldest !== undefined) this.#callbacks.delete(oldest);
    this.#parts.onChange(callback);
  }
}
