import type { Endpoint } from "../../http/endpoint.ts";
import { matchesAny } from "../core/call-patterns.ts";
import { assertCurrent } from "../core/lifetime.ts";
import { Problem } from "../core/problem.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { Caller, World } from "../state/world.ts";
import { checkPath, readBody, readQuery } from "./input.ts";
import { problemResponse } from "./respond.ts";
import type { FindRoute, Match } from "./router.ts";

/** The service as one function. */
export type Service = (request: Request) => Promise<Response>;

/** The policies that a request draws from. A request without a route draws from `default`, as every authenticated request does. */
export const policiesOf = (match: Match | undefined): Endpoint["policies"] =>
  match?.route.endpoint.policies ?? ["default"];

/** Finds the organization that a request belongs to. Returns undefined without a valid key. */
export const callerOf = (emulation: Emulation, request: Request): Caller | undefined =>
  emulation.authenticate(request.headers.get("X-Service-Secret-Key"));

/** Refuses a call that the key may not make, and a call that is not available (specification 5, rule 4; 7, rule 2). */
function refuseCall({ world, key }: Caller, endpoint: Endpoint): void {
  if (matchesAny(world.settings.unavailable, endpoint)) {
    throw new Problem("not_implemented", `${endpoint.call} is not publicly available yet`);
  }
  if (key.permissions !== null && !matchesAny(key.permissions, endpoint)) {
    throw new Problem("permission_denied", `The key ${key.reference} has no permission for ${endpoint.call}`);
  }
}

async function respond(caller: Caller, request: Request, url: URL, match: Match | undefined): Promise<Response> {
  if (match === undefined)
    throw new Problem("not_found", `The endpoint ${request.method} ${url.pathname} does not exist`);
  const { route, path } = match;
  refuseCall(caller, route.endpoint);
  checkPath(path);
  const query = readQuery(route.endpoint, url.searchParams);
  const body = await readBody(route.endpoint, request);
  assertCurrent(caller.world);
  return await route.respond({ path, query, body }, caller, request);
}

/** Turns a `Problem` into its response. Another error is a defect of the emulator and is thrown again. */
async function withProblems({ settings }: World, handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Only a 4xx is promised to have the error object (specification 7, rule 1).
    const hasObject = error.status < 500 || settings.shapes === "full";
    return hasObject ? problemResponse(error) : new Response(null, { status: error.status });
  }
}

/** Makes the service: authentication, routing, rate limits and input checks, then the handler. */
export function createService(emulation: Emulation, find: FindRoute): Service {
  return async (request) => {
    const caller = callerOf(emulation, request);
    if (caller === undefined) {
      return problemResponse(
        new Problem("unauthorized", "The header X-Service-Secret-Key is missing, or its key is invalid or revoked"),
      );
    }
    const url = new URL(request.url);
    const match = find(request.method, url);
    const policies = policiesOf(match);
    const { rateLimits } = caller.world;
    const retryAfter = rateLimits.take(policies);
    // Read the levels now: the service can serve other requests before this response is ready.
    const limits = Object.entries(rateLimits.headers(policies));
    const response =
      retryAfter === undefined
        ? await withProblems(caller.world, () => respond(caller, request, url, match))
        : problemResponse(new Problem("rate_limited", "A rate-limit bucket is empty", retryAfter));
    for (const [name, value] of limits) response.headers.set(name, value);
    return response;
  };
}
