import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import type { World } from "../state/world.ts";
import { checkPath, readBody, readQuery } from "./input.ts";
import { Problem } from "./problem.ts";
import { problemAnswer } from "./respond.ts";
import type { FindRoute, Match } from "./router.ts";

/** A whole service as one function. */
export type Service = (request: Request) => Promise<Response>;

/** The buckets of a request. One that no route fits draws from the bucket that every authenticated request draws from. */
export const policiesOf = (match: Match | undefined): Endpoint["policies"] =>
  match?.route.endpoint.policies ?? ["default"];

/** Whether a request carries the key that is asked for. */
export const isAuthenticated = (request: Request, { settings }: World): boolean =>
  request.headers.get("X-Service-Secret-Key") === settings.secretKey;

async function answer(world: World, request: Request, url: URL, match: Match | undefined): Promise<Response> {
  if (match === undefined) throw new Problem("not_found", `There is no ${request.method} ${url.pathname}`);
  const { route, path } = match;
  checkPath(path);
  const query = readQuery(route.endpoint, url.searchParams);
  const body = await readBody(route.endpoint, request);
  return await route.answer({ path, query, body }, world, request);
}

/** What a handler refuses becomes the error object; anything else it throws is a fault of the emulator, and stays one. */
async function refusable(answering: () => Promise<Response>): Promise<Response> {
  try {
    return await answering();
  } catch (error) {
    if (error instanceof Problem) return problemAnswer(error);
    throw error;
  }
}

/** Puts authentication, routing, rate limits and the checks of the input around the handlers. */
export function createService(world: World, find: FindRoute): Service {
  return async (request) => {
    if (!isAuthenticated(request, world)) {
      return problemAnswer(
        new Problem("unauthorized", "The header X-Service-Secret-Key is missing or its key invalid"),
      );
    }
    const url = new URL(request.url);
    const match = find(request.method, url);
    const policies = policiesOf(match);
    const retryAfter = world.rateLimits.take(policies);
    // What is left of this request's own: others may be served before it is answered.
    const limits = Object.entries(world.rateLimits.headers(policies));
    const response =
      retryAfter === undefined
        ? await refusable(() => answer(world, request, url, match))
        : problemAnswer(new Problem("rate_limited", "A rate-limit bucket is empty", retryAfter));
    for (const [name, value] of limits) response.headers.set(name, value);
    return response;
  };
}
