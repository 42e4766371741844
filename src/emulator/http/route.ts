import type { Endpoint, EndpointInput } from "../../http/endpoint.ts";
import type { Caller } from "../state/world.ts";
import { promisedOf } from "./promised.ts";
import { dataResponse } from "./respond.ts";

/** The argument of a handler: the endpoint's checked input, the request and its caller. */
export type RouteCall<Input> = Input & Caller & { readonly request: Request };

/** An endpoint with the function that responds to its requests. */
export interface Route {
  readonly endpoint: Endpoint;
  respond(input: EndpointInput, caller: Caller, request: Request): Promise<Response>;
}

/** Makes a route whose handler returns data of the descriptor's type. The data is wrapped as the descriptor says. */
export const route = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  handle: (call: RouteCall<Input>) => Data | Promise<Data>,
): Route => ({
  endpoint,
  respond: async (input, caller, request) => {
    const data = await handle({ ...(input as Input), ...caller, request });
    const { shapes } = caller.world.settings;
    return dataResponse(endpoint.response, shapes === "minimal" ? promisedOf(endpoint, data) : data);
  },
});

/** Makes a route whose handler returns a whole response, such as a file. */
export const rawRoute = <Input extends EndpointInput>(
  endpoint: Endpoint<Input>,
  handle: (call: RouteCall<Input>) => Response,
): Route => ({
  endpoint,
  respond: async (input, caller, request) => handle({ ...(input as Input), ...caller, request }),
});
