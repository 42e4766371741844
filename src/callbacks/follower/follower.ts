import { RequestValidationError } from "../../errors/validation.ts";
import { type OrderReference, referenceFault } from "../../references/references.ts";
import { type ScopeOf, scopeOf } from "../../stores/scope.ts";
import { ScopedStore } from "../../stores/scoped-store.ts";
import { eitherSignal } from "../../util/abort-signals.ts";
import { safely } from "../../util/foreign.ts";
import { lazily } from "../../util/lazily.ts";
import { deadlockHint, refuseInHandler } from "../handlers.ts";
import { Rounds } from "../rounds.ts";
import type { Found } from "./changes.ts";
import { OrderFollowerError, type Reconciled } from "./errors.ts";
import { Handover, type Look } from "./handover.ts";
import { type FollowerSettings, type ReconcileOptions, resolveReconcileOptions } from "./options.ts";
import { Reader } from "./reader.ts";
import { Records } from "./records.ts";
import { Sweep } from "./sweep.ts";

interface Input {
  readonly reference: OrderReference;
  readonly look: Look | undefined;
}

/** Follows orders: one change of an order at a time in this process, sweeps, and the timer. */
export class Follower {
  readonly #settings: FollowerSettings;
  readonly #records: Records;
  readonly #handover: Handover;
  readonly #rounds: Rounds<Input, Found | "late">;
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<unknown>>();
  #stopTimer: () => void = () => undefined;

  constructor(settings: FollowerSettings) {
    const { partner, store, clock, timeout, every, forgetAfter } = settings;
    const scoped = lazily(async () => {
      const nameScope = Reflect.get(partner, scopeOf) as ScopeOf;
      return new ScopedStore(store, await nameScope(store));
    });
    this.#settings = settings;
    this.#records = new Records(scoped, clock, forgetAfter);
    this.#handover = new Handover(settings, this.#records, new Reader(partner));
    this.#rounds = new Rounds<Input, Found | "late">({
      clock,
      // Only the order of changes matters here; the callers limit how many they make at a time.
      concurrency: Number.POSITIVE_INFINITY,
      maxWait: timeout,
      onLate: () => "late",
      work: ({ reference, look }) => this.#handover.run(reference, look),
    });
    if (every !== undefined) this.#sweepEvery(every);
  }

  follow(reference: OrderReference): Promise<void> {
    return this.#during(async () => {
      checkReference(reference);
      const { bytes } = await this.#records.order(reference);
      if (bytes !== undefined) return;
      const since = this.#settings.clock.now();
      await this.#records.setMark(reference, { looked: 0, since }, { bytes: undefined });
    });
  }

  update(reference: OrderReference): Promise<Found> {
    return this.#during(async () => {
      checkReference(reference);
      refuseInHandler(this.#settings, "`update`", reference);
      return this.#join(reference);
    });
  }

  reconcile(options: ReconcileOptions = {}): Promise<Reconciled> {
    return this.#during(async () => {
      const settings = resolveReconcileOptions(options);
      refuseInHandler(this.#settings, "`reconcile`");
      const parts = {
        records: this.#records,
        clock: this.#settings.clock,
        look: this.#handover.look.bind(this.#handover),
        handOver: (reference: OrderReference, look: Look) => this.#join(reference, look),
      };
      return new Sweep(parts, settings).run(eitherSignal(settings.signal, this.#closing.signal));
    });
  }

  async close(): Promise<void> {
    refuseInHandler(this.#settings, "`close` of the follower");
    this.#stopTimer();
    this.#closing.abort(closedError());
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  async #join(reference: OrderReference, look?: Look): Promise<Found> {
    // A hint may share a waiting round: it needs a request that is sent after it.
    const usable = this.#rounds.isIdle(reference) ? look : undefined;
    const outcome = await this.#rounds.join(reference, { reference, look: usable });
    if (outcome !== "late") return outcome;
    const message = `An earlier change of the order ${reference} is in work for more than ${this.#settings.timeout} ms. ${deadlockHint}`;
    throw new OrderFollowerError({ fault: "busy", message });
  }

  /** Runs work that `close` waits for. */
  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#closing.signal.throwIfAborted();
    const running = work();
    this.#work.add(running);
    try {
      return await running;
    } finally {
      this.#work.delete(running);
    }
  }

  #sweepEvery(every: number): void {
    const { clock, onError } = this.#settings;
    const sweep = async () => {
      const began = clock.now();
      try {
        await this.reconcile({ unreadFor: every / 2 });
      } catch (error) {
        if (!this.#closing.signal.aborted)
          safely(
            () => onError(error),
            () => undefined,
          );
      }
      if (this.#closing.signal.aborted) return;
      this.#stopTimer = clock.after(Math.max(0, began + every - clock.now()), () => void sweep());
    };
    this.#stopTimer = clock.after(0, () => void sweep());
  }
}

const closedError = () =>
  new OrderFollowerError({ fault: "closed", message: "The follower is closed. Repeat the call in another process." });

function checkReference(reference: OrderReference): void {
  const message = referenceFault("Order", reference);
  if (message !== undefined) throw new RequestValidationError({ issues: [{ path: ["orderReference"], message }] });
}
