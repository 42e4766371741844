import { captureCallSite } from "../errors/call-site.ts";
import type { ApiCall, Send } from "../http/send.ts";
import { type CallContext, countdown } from "../waiting/call-context.ts";
import { laterCall } from "../waiting/later-call.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";

/** Finds the changes of a list. The implementation loads at the first use, because most programs do not need it. */
export function changesOf<Listed extends Referenced, Current extends Listed>(
  send: Send,
  context: CallContext,
  list: ChangingList<Listed>,
  options: ChangesOptions<Listed>,
): ApiCall<ListChanges<Listed, Current>> {
  const callSite = captureCallSite(changesOf);
  const remaining = countdown(context, options?.deadline);
  return laterCall(context, callSite, async () => {
    const { findChanges } = await import("./find-changes.ts");
    return findChanges<Listed, Current>({ send, clock: context.clock, remaining }, list, options);
  });
}
