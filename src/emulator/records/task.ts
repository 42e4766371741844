import type { ClaimReference, OrderReference, RenderReference } from "../../references/references.ts";

/** A step of an order. `part` is the number of its shipment, from 1 on. */
export type OrderTask =
  | { readonly kind: "startProduction"; readonly order: OrderReference }
  | { readonly kind: "ship"; readonly order: OrderReference; readonly part: number };

/** Work of the emulated service that is due at a later time. */
export type Task =
  | OrderTask
  | { readonly kind: "reviewClaim"; readonly claim: ClaimReference }
  | { readonly kind: "finishRender"; readonly render: RenderReference }
  | { readonly kind: "callback"; readonly id: number };
