import type { CallSite } from "../../errors/call-site.ts";
import { assertRows, type ManyOptions, type ManyRows, many, manyRows, type Rows } from "../../http/many.ts";
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
export async function* ensureRows(
  placing: Placing,
  rows: Rows<unknown>,
  options: ManyRows<IdentifiedOrderInput, EnsureManyOptions>,
  callSite: CallSite,
): AsyncGenerator<Outcome<unknown, PlacedOrder>, void, undefined> {
  assertRows(ensureManyOptions, rows, options);
  // A started creation is finished, also if the caller leaves the loop.
  const work = (order: IdentifiedOrderInput, each: EnsureOptions) => ensure(placing, order, each);
  yield* many(rows, options, { concurrency: 8, work, callSite });
}
