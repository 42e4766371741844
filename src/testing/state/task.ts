import type { OrderReference } from "../../references/references.ts";

/** Work of the emulated service that is due at a later time. */
export type Task =
  | { readonly kind: "startProduction" | "ship"; readonly order: OrderReference }
  | { readonly kind: "callback"; readonly id: number };
