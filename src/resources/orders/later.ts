import { captureCallSite } from "../../errors/call-site.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { ManyRows, Rows } from "../../http/many.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import type { OrderReference } from "../../references/references.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { loading } from "../../util/loading.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { laterCall } from "../../waiting/later-call.ts";
import type { CanceledRemainder } from "./cancel-remaining.ts";
import type { EnsureManyOptions } from "./ensure-many.ts";
import type { IdentifiedOrderInput, PlacedOrder, Placing } from "./place.ts";

/** Ensures that there is an order for each row. The code loads at the first use, because most programs do not need it. */
export function ensureMany(
  placing: Placing,
  rows: Rows<unknown>,
  options: ManyRows<IdentifiedOrderInput, EnsureManyOptions>,
): AsyncIterable<Outcome<unknown, PlacedOrder>> {
  const callSite = captureCallSite(ensureMany);
  return loading(async () => {
    const { ensureRows } = await import("./ensure-many.ts");
    return ensureRows(placing, rows, options, callSite);
  });
}

/** Cancels the remaining units of an order. The code loads at the first use. */
export function cancelRemaining(
  send: Send,
  context: CallContext,
  orderReference: OrderReference,
  options: RequestOptions,
): ApiCall<CanceledRemainder> {
  return laterCall(context, captureCallSite(cancelRemaining), async () => {
    const { cancelRest } = await import("./cancel-remaining.ts");
    return cancelRest(send, context, orderReference, options);
  });
}
