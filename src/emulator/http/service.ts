import type { Endpoint } from "../../http/endpoint.ts";
import { getLayerImage, getProductMedia } from "../../resources/catalog/catalog.endpoints.ts";
import { createPathReader, matchesAny } from "../base/endpoint-names.ts";
import { assertCurrent, type Service } from "../base/messages.ts";
import { Problem } from "../base/problem.ts";
import { policies as allPolicies } from "../base/rate-limit.ts";
import type { Emulation } from "../state/emulation.ts";
import type { Caller, World } from "../state/world.ts";
import { checkPath, readBody, readQuery } from "./input.ts";
import { problemResponse } from "./respond.ts";
import type { Route } from "./route.ts";

/** A route that matches a request, with the parameters of its path. */
export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
}

/** The calls of files that may be public. */
const openFiles: readonly string[] = [getProductMedia.call, getLayerImage.call];

const parameter = /^\{(\w+)\}$/;

const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1);

/** Reads the parameters of a path. Returns undefined when the path does not match the template. */
function readSegments(
  template: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const path: Record<string, string> = {};
  for (const [position, expected] of template.entries()) {
    const segment = segments[position] ?? "";
    const name = parameter.exec(expected)?.[1];
    if (name === undefined && segment !== expected) return undefined;
    if (name !== undefined && segment === "") return undefined;
    if (name !== undefined) path[name] = segment;
  }
  return path;
}

function decode(segments: readonly string[]): readonly string[] | undefined {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Finds the route of a request. Returns undefined when no route matches. */
type FindRoute = (method: string, url: URL) => Match | undefined;

/** Makes a function that finds the route of a request under the base URL. */
export function createRouter(routes: readonly Route[], baseUrl: string): FindRoute {
  const relative = createPathReader(baseUrl);
  const key = (method: string, segments: readonly string[]) => `${method} ${segments[0]} ${segments.length}`;
  const candidates = Map.groupBy(routes, ({ endpoint }) => key(endpoint.method, segmentsOf(endpoint.path)));

  return (method, { pathname }) => {
    const segments = decode(segmentsOf(relative(pathname) ?? ""));
    if (segments === undefined) return undefined;
    for (const route of candidates.get(key(method, segments)) ?? []) {
      const parameters = readSegments(segmentsOf(route.endpoint.path), segments);
      if (parameters !== undefined) return { route, path: parameters };
    }
    return undefined;
  };
}

/** The policies that a request draws from. A request without a route draws from `default`, as every authenticated request does. */
export const policiesOf = (match: Match | undefined): Endpoint["policies"] =>
  match?.route.endpoint.policies ?? ["default"];

/** Finds the organization that a request belongs to. Returns undefined without a valid key. */
export const callerOf = (emulation: Emulation, request: Request): Caller | undefined =>
  emulation.authenticate(request.headers.get("X-Service-Secret-Key"));

/** Who requests a file without a key, where files need none. */
function visitorOf({ settings, worlds }: Emulation, request: Request, match: Match | undefined): Caller | undefined {
  const [world] = worlds;
  const [key] = world.keys.values();
  const isFile = match !== undefined && openFiles.includes(match.route.endpoint.call);
  const hasKey = request.headers.has("X-Service-Secret-Key");
  return settings.assumptions.filesNeedKey || !isFile || hasKey || key === undefined ? undefined : { world, key };
}

/** Refuses a call that the key may not make, and a call that is not available (specification 5, rule 4; 7, rule 2). */
function refuseCall({ world, key }: Caller, endpoint: Endpoint): void {
  if (matchesAny(world.settings.unavailable, endpoint)) {
    throw new Problem("not_implemented", `${endpoint.call} is not publicly available yet`);
  }
  if (key.permissions !== null && !matchesAny(key.permissions, endpoint)) {
    throw new Problem("permission_denied", `The key ${key.reference} has no permission for ${endpoint.call}`);
  }
}

/** The cursors that were used, where each can be used only once. */
const usedCursors = new WeakMap<World, Set<string>>();

/** Refuses a cursor that was used before. */
function useCursor(world: World, { call }: Endpoint, cursor: unknown): void {
  if (typeof cursor !== "string") return;
  const used = usedCursors.get(world) ?? new Set();
  usedCursors.set(world, used);
  if (used.has(`${call} ${cursor}`)) throw new Problem("unknown_input_error", "The cursor was used before");
  used.add(`${call} ${cursor}`);
}

async function respond(caller: Caller, request: Request, url: URL, match: Match | undefined): Promise<Response> {
  if (match === undefined)
    throw new Problem("not_found", `The endpoint ${request.method} ${url.pathname} does not exist`);
  const { route, path } = match;
  refuseCall(caller, route.endpoint);
  checkPath(path);
  const { assumptions } = caller.world.settings;
  const query = readQuery(route, url.searchParams, assumptions);
  if (!assumptions.cursorReuse) useCursor(caller.world, route.endpoint, query.cursor);
  const body = await readBody(route, request, assumptions);
  assertCurrent(caller.world);
  return await route.respond({ path, query, body }, caller, request);
}

/** Turns a `Problem` into its response. Another error is a defect of the emulator and is thrown again. */
async function withProblems({ settings }: Pick<World, "settings">, handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Only a 4xx is promised to have the error object (specification 7, rule 1).
    const hasObject = error.status < 500 || settings.shapes === "full";
    return hasObject ? problemResponse(error, settings) : new Response(null, { status: error.status });
  }
}

/** Makes the service: authentication, routing, rate limits and input checks, then the handler. */
export function createService(emulation: Emulation, find: FindRoute): Service {
  return async (request) => {
    const { settings } = emulation;
    const url = new URL(request.url);
    const match = find(request.method, url);
    const caller = callerOf(emulation, request) ?? visitorOf(emulation, request, match);
    if (caller === undefined) {
      return problemResponse(
        new Problem("unauthorized", "The header X-Service-Secret-Key is missing, or its key is invalid or revoked"),
        settings,
      );
    }
    const policies = policiesOf(match);
    const { rateLimits } = caller.world;
    const { remaining, namedPolicies } = settings.assumptions;
    const read = () => Object.entries(rateLimits.headers(namedPolicies === "all" ? allPolicies : policies));
    const before = remaining === "before" ? read() : undefined;
    const retryAfter = rateLimits.take(policies);
    // Read the levels now: the service can serve other requests before this response is ready.
    const limits = before ?? read();
    const response =
      retryAfter === undefined
        ? await withProblems(caller.world, () => respond(caller, request, url, match))
        : problemResponse(new Problem("rate_limited", "A rate-limit bucket is empty", retryAfter), settings);
    for (const [name, value] of limits) response.headers.set(name, value);
    return response;
  };
}
