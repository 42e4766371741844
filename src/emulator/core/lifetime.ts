import { connectionReset } from "./broken-connection.ts";

/** The time from the start of a state until it is replaced. */
export class Lifetime {
  readonly #end = new AbortController();

  /** Aborts with a broken connection when the state is replaced, or its world is removed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  end(): void {
    this.#end.abort(connectionReset());
  }
}

/** Breaks the connection of a request that arrived before its state was replaced, as a restart of a service does. */
export function assertCurrent({ lifetime }: { readonly lifetime: Lifetime }): void {
  lifetime.signal.throwIfAborted();
}
