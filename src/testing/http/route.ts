import type { Endpoint, EndpointInput } from "../../http/endpoint/endpoint.ts";
import type { World } from "../state/world.ts";
import { dataAnswer } from "./respond.ts";

/** What a handler is given: the endpoint's checked input, the request itself, and all that the service knows. */
export type ApiCall<Input> = Input & { readonly world: World; readonly request: Request };

/** An endpoint and what answers it. */
export interface Route {
  readonly endpoint: Endpoint;
  answer(input: EndpointInput, world: World, request: Request): Promise<Response>;
}

/** Answers an endpoint with data of its descriptor's type, which is wrapped as the descriptor says. */
export const route = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  handle: (call: ApiCall<Input>) => Data | Promise<Data>,
): Route => ({
  endpoint,
  answer: async (input, world, request) =>
    dataAnswer(endpoint.response, await handle({ ...(input as Input), world, request })),
});

/** Answers an endpoint with a response of the handler's own making, such as a file. */
export const rawRoute = <Input extends EndpointInput>(
  endpoint: Endpoint<Input>,
  handle: (call: ApiCall<Input>) => Response,
): Route => ({
  endpoint,
  answer: async (input, world, request) => handle({ ...(input as Input), world, request }),
});
