import { captureCallSite, frameCounts } from "../../errors/call-site.ts";
import type { Endpoint, EndpointInput } from "../endpoint/endpoint.ts";
import { noOptions } from "../endpoint/request-options.ts";
import { unexpected } from "../wire/thrown.ts";
import { type ApiCall, toCall } from "./call.ts";
import type { Core, Plan, Send } from "./core.ts";
import { type OpenFiles, Operation } from "./operation.ts";

/** Makes the function that runs a call through the whole pipeline: `encode → recover( retry( pace → send → observe → map the error ) → decode )`. */
export function createSend(core: Core, openFiles?: OpenFiles): Send {
  const send = <Data, Result>(
    endpoint: Endpoint<never, Data>,
    input: EndpointInput,
    options = noOptions,
    plan?: Plan<Data, Result>,
  ): ApiCall<Data | Result> => {
    const callSite = captureCallSite(send, plan === undefined ? frameCounts.direct : frameCounts.planned);
    const begin = () => {
      try {
        return new Operation<Data>(core, endpoint, options, callSite, openFiles).run(input, plan);
      } catch (error) {
        // The `addEventListener` of a polyfilled signal can throw.
        return Promise.reject(unexpected(error, core.redact));
      }
    };
    return toCall(begin(), core.pacer);
  };
  return send as Send;
}
