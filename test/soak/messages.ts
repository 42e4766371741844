import type { OrderReference, ProductReference, StoreReference } from "../../src/index.ts";

/** The address of the service, and what can be ordered. */
export interface Address {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly storeReference: StoreReference;
  readonly productReference: ProductReference;
}

/** The response of the service process to a message. */
export interface Count {
  readonly orders: number;
  readonly requests: number;
}

/** The message to a client. */
export interface Job extends Address {
  readonly orders: number;
  readonly concurrency: number;
}

/** The message of a client: an order that is placed, or, at the end, that there are no more. */
export type Progress =
  | { readonly customIdentifier: string; readonly reference: OrderReference }
  | { readonly failures: number };
