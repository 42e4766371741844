import { createPathReader } from "../core/base-path.ts";
import type { Route } from "./route.ts";

/** A route that matches a request, with the parameters of its path. */
export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
}

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
export type FindRoute = (method: string, url: URL) => Match | undefined;

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
