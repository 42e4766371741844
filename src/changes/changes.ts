import { captureCallSite } from "../errors/call-site.ts";
import type { ApiCall } from "../http/send.ts";
import { attempt } from "../util/foreign.ts";
import { type CallContext, countdown } from "../waiting/call-context.ts";
import { laterCall } from "../waiting/later-call.ts";
import { findChanges } from "./find-changes.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";

/** Finds the changes of a list. */
export function changesOf<Listed extends Referenced, Current extends Listed>(
  context: CallContext,
  list: ChangingList<Listed>,
  options: ChangesOptions<Listed>,
): ApiCall<ListChanges<Listed, Current>> {
  const callSite = captureCallSite(changesOf);
  const remaining = countdown(
    context,
    attempt(() => options?.deadline),
  );
  const { start, clock } = context;
  return laterCall(context, callSite, () => findChanges<Listed, Current>({ start, clock, remaining }, list, options));
}
