import type { Endpoint, EndpointInput } from "../../http/endpoint/endpoint.ts";
import type { World } from "../state/world.ts";
import { dataResponse } from "./respond.ts";

/** The argument of a handler: the endpoint's checked input, the request, and the state of the service. */
export type ApiCall<Input> = Input & { readonly world: World; readonly request: Request };

/** An endpoint with the function that responds to its requests. */
export interface Route {
  readonly endpoint: Endpoint;
  respond(input: EndpointInput, world: World, request: Request): Promise<Response>;
}

/** Makes a route whose handler returns data of the descriptor's type. The data is wrapped as the descriptor says. */
export const route = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  handle: (call: ApiCall<Input>) => Data | Promise<Data>,
): Route => ({
  endpoint,
  respond: async (input, world, request) =>
    dataResponse(endpoint.response, await handle({ ...(input as Input), world, request })),
});

/** Makes a route whose handler returns a whole response, such as a file. */
export const rawRoute = <Input extends EndpointInput>(
  endpoint: Endpoint<Input>,
  handle: (call: ApiCall<Input>) => Response,
): Route => ({
  endpoint,
  respond: async (input, world, request) => handle({ ...(input as Input), world, request }),
});
