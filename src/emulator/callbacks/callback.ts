import type { OrderReference, StoreReference } from "../../references/references.ts";

/** One delivery of a callback. */
export interface CallbackTry {
  /** When it began, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number;
  /** The status of the response; null when there was none. */
  readonly status: number | null;
  /** Why there was no response; null when there was one. */
  readonly error: string | null;
  /** How long it took, in milliseconds by the clock of the options. */
  readonly duration: number;
}

/** An order-updated callback with its tries (specification 6). */
export interface SentCallback {
  readonly id: number;
  readonly orderReference: OrderReference;
  readonly storeReference: StoreReference;
  /** The URL of the latest try, with the parameters. */
  readonly url: string;
  /**
   * `waiting` until a response is 2xx, then `delivered`. It is `stopped` when the store has no callback URL any more at the time of a
   * try.
   */
  readonly status: "waiting" | "delivered" | "stopped";
  /** When the next try begins, or when the current one began, in milliseconds since 1970; null if no try follows. */
  readonly nextTryAt: number | null;
  /** The number of all tries. */
  readonly tried: number;
  /** The latest 20 tries, oldest first. */
  readonly tries: readonly CallbackTry[];
}

/** A callback in the emulator's state. It is plain JSON. */
export type StoredCallback = { -readonly [Field in keyof SentCallback]: SentCallback[Field] };
