import type { PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import type { KeyValueStore, StoreExpectation, StoreSetOptions } from "./store.ts";

/** Milliseconds that an operation may take, and that a lost store is left alone. */
const patience = 1_000;

/** Who hears that a store is lost or back. */
export interface StoreReports {
  readonly onLost: (reason: string) => void;
  readonly onBack: () => void;
}

/** Opens the store of a client. It is opened at the first use, so that a client without such a use loads nothing for it. */
export type OpenStore = () => Promise<ClientStore>;

/** A store whose iteration does not end is faulty; then this many keys are enough. */
const mostKeys = 10_000_000;

/** A store that gives no result: trying its other operations would cost as much time. */
class Slow extends Error {
  override readonly message = `no result within ${patience} ms`;
}

/**
 * The store as the calls of a client use it. It never fails and is never slow: while the store cannot be reached, it holds nothing, and
 * a change resolves to undefined. A full store still gives what it holds, so that nothing is paid for twice: after a change that failed at
 * once, only the changes are lost. One operation at a time tries whether the store is back. The first failure and the first success after
 * it are reported.
 */
export class ClientStore {
  /** What keeps the bytes. */
  readonly kind: string;
  readonly #store: KeyValueStore;
  readonly #clock: PartnerClock;
  readonly #reports: StoreReports;
  #lost: "changes" | "all" | undefined;
  #tryAt = 0;
  /** How often the store failed. */
  #failures = 0;

  constructor(store: KeyValueStore, clock: PartnerClock, reports: StoreReports) {
    this.kind = store.kind;
    this.#store = store;
    this.#clock = clock;
    this.#reports = reports;
  }

  /** Resolves to the bytes of a key; undefined if it holds none, and while the store is lost. */
  get(key: string): Promise<Uint8Array | undefined> {
    return this.#try(() => this.#store.get(key));
  }

  /** Like {@link KeyValueStore.set}. Resolves to undefined while the store is lost. */
  set(key: string, value: Uint8Array, options?: StoreSetOptions): Promise<boolean | undefined> {
    return this.#try(() => this.#store.set(key, value, options), "changes");
  }

  /** Like {@link KeyValueStore.delete}. Resolves to undefined while the store is lost. */
  delete(key: string, options?: StoreExpectation): Promise<boolean | undefined> {
    return this.#try(() => this.#store.delete(key, options), "changes");
  }

  /** Iterates the keys that begin with a prefix. It ends early when the store is lost. */
  async *keys(prefix: string): AsyncGenerator<string> {
    let opened: AsyncIterator<string> | undefined;
    const keys = () => {
      opened ??= this.#store.keys(prefix)[Symbol.asyncIterator]();
      return opened;
    };
    try {
      for (let count = 0; count < mostKeys; count += 1) {
        const next = await this.#try(() => keys().next());
        if (next === undefined || next.done) return;
        yield next.value;
      }
    } finally {
      // The end of an iteration does not show whether the store can be reached.
      if (this.#lost !== "all") await this.#inTime(async () => keys().return?.()).catch(() => undefined);
    }
  }

  /** Tries an operation. `scope` says what its failure shows to be lost. */
  async #try<T>(work: () => Promise<T>, scope: "changes" | "all" = "all"): Promise<T | undefined> {
    const began = this.#clock.now();
    const lost = this.#lost === "all" || this.#lost === scope;
    if (lost && began < this.#tryAt) return undefined;
    if (lost) this.#tryAt = began + patience;
    const failures = this.#failures;
    try {
      const result = await this.#inTime(work);
      // The success of an operation that began before a failure does not count.
      if (lost && this.#lost !== undefined && failures === this.#failures) {
        this.#lost = undefined;
        this.#reports.onBack();
      }
      return result;
    } catch (error) {
      this.#failures += 1;
      this.#tryAt = this.#clock.now() + patience;
      const reported = this.#lost !== undefined;
      if (this.#lost !== "all") this.#lost = error instanceof Slow ? "all" : scope;
      if (!reported) this.#reports.onLost(wordsOf(error));
      return undefined;
    }
  }

  #inTime<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const stop = this.#clock.after(patience, () => reject(new Slow()));
      // A result that comes too late changes nothing, also a rejection.
      const running = async () => work();
      running().then(resolve, reject).finally(stop);
    });
  }
}
