import type { OrderReference, ProductReference, StoreReference } from "../../src/index.ts";

/** Where the service is, and what can be ordered there. */
export interface Address {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly storeReference: StoreReference;
  readonly productReference: ProductReference;
}

/** What the service answers when it is asked for anything. */
export interface Count {
  readonly orders: number;
  readonly requests: number;
}

/** What a client is told to do. */
export interface Job extends Address {
  readonly client: "pod-partner" | "plain";
  readonly orders: number;
  readonly concurrency: number;
}

/** What a client tells: an order that is placed, or, at the end, that no more come. */
export type Progress =
  | { readonly customIdentifier: string; readonly reference: OrderReference }
  | { readonly failures: number };
