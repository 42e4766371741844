import { type CallSite, withCallSite } from "../errors/call-site.ts";
import { type ApiCall, type CallResult, toCall } from "../http/send.ts";
import type { CallContext } from "./call-context.ts";

/** Makes a call of several requests whose code `run` loads. Its errors have the frames of the call site. */
export function laterCall<Data>(
  context: CallContext,
  callSite: CallSite,
  run: () => Promise<CallResult<Data>>,
): ApiCall<Data> {
  const settled = run().catch((error: unknown) => {
    throw withCallSite(error, callSite);
  });
  return toCall(settled, context.pacer);
}
