import { captureCallSite } from "../errors/call-site.ts";
import { type Call, toCall } from "./call.ts";
import type { Core, Plan, Send } from "./core.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import { Journey } from "./journey.ts";
import { noOptions } from "./request-options.ts";

/** Makes the function that takes a call all the way: `encode → recover( retry( pace → send → observe → map the error ) → decode )`. */
export function createSend(core: Core): Send {
  const send = <Data, Result>(
    endpoint: Endpoint<never, Data>,
    input: EndpointInput,
    options = noOptions,
    plan?: Plan<Data, Result>,
  ): Call<Data | Result> =>
    toCall(new Journey<Data>(core, endpoint, options, captureCallSite(send)).run(input, plan), core.pacer);
  return send as Send;
}
