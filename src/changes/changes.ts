import { captureCallSite, withCallSite } from "../errors/call-site.ts";
import { type ApiCall, toCall } from "../http/call/call.ts";
import type { Send } from "../http/call/core.ts";
import { type CallContext, countdown } from "../waiting/call-context.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";
import { shared } from "./shared.ts";

/** Finds the changes of a list. The implementation loads at the first use, because most programs do not need it. */
export function changesOf<Listed extends Referenced, Current extends Listed>(
  send: Send,
  context: CallContext,
  list: ChangingList<Listed>,
  options: ChangesOptions<Listed>,
): ApiCall<ListChanges<Listed, Current>> {
  const callSite = captureCallSite(changesOf);
  const remaining = countdown(context, options?.deadline);
  const found = import("./find-changes.ts")
    .then(({ findChanges }) =>
      findChanges<Listed, Current>({ ...shared, send, clock: context.clock, remaining }, list, options),
    )
    .catch((error: unknown) => {
      throw withCallSite(error, callSite);
    });
  return toCall(found, context.pacer);
}
