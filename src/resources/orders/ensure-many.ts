import type { CallSite } from "../../errors/call-site.ts";
import { type ManyOptions, type ManyRows, many, manyRows, type Rows } from "../../http/many.ts";
import { ensuring, taking } from "../../http/request-options.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { type EnsureOptions, ensure, type IdentifiedOrderInput, type PlacedOrder, type Placing } from "./place.ts";

/** Options of {@link OrdersResource.ensureMany}. */
export interface EnsureManyOptions extends ManyOptions, EnsureOptions {
  /** Maximum number of orders at the same time. Default 8. */
  readonly concurrency?: number | undefined;
}

const ensureManyOptions = taking(() => ({ ...ensuring(), ...manyRows() }));

/** Ensures that there is an order for each row. */
export function ensureRows(
  placing: Placing,
  rows: Rows<unknown>,
  options: ManyRows<IdentifiedOrderInput, EnsureManyOptions>,
  callSite: CallSite,
): AsyncIterable<Outcome<unknown, PlacedOrder>> {
  // A started creation is finished, also if the caller leaves the loop.
  const work = (order: IdentifiedOrderInput, each: EnsureOptions) => ensure(placing, order, each);
  return many(rows, options, { kind: ensureManyOptions, concurrency: 8, work, callSite });
}
