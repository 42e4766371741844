import type { Endpoint } from "../../http/endpoint.ts";
import { nearest } from "../../schemas/messages.ts";

/** The names of an endpoint: the client's call (`orders.create`), and the specification's endpoint (`POST /orders`). */
export const namesOf = ({ call, method, path }: Endpoint): readonly string[] => [call, `${method} ${path}`];

/** Returns the endpoints with a name. Throws a `TypeError` for an unknown name. */
export function endpointsNamed(name: string, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const named = endpoints.filter((endpoint) => namesOf(endpoint).includes(name));
  if (named.length > 0) return named;
  const likely = nearest(name, endpoints.flatMap(namesOf));
  const suggested = likely === undefined ? "" : `; did you mean \`${likely}\`?`;
  throw new TypeError(
    `The emulator has no endpoint ${name}${suggested}\n  An endpoint has the name of the client's call, such as \`orders.create\`, or its own, such as \`POST /orders\`.`,
  );
}

/** Whether a pattern names an endpoint: a name such as `orders.get` or `GET /orders`, or a group of calls such as `orders.*`. */
const matches = (pattern: string, endpoint: Endpoint): boolean =>
  pattern.endsWith(".*") ? endpoint.call.startsWith(pattern.slice(0, -1)) : namesOf(endpoint).includes(pattern);

/** Whether one of the patterns names an endpoint. */
export const matchesAny = (patterns: readonly string[], endpoint: Endpoint): boolean =>
  patterns.some((pattern) => matches(pattern, endpoint));

/** The first pattern that names no endpoint. */
export const unknownPattern = (patterns: readonly string[], endpoints: readonly Endpoint[]): string | undefined =>
  patterns.find((pattern) => !endpoints.some((endpoint) => matches(pattern, endpoint)));

/** Makes a function that removes the path of the base URL from a request's path. It returns undefined for other paths. */
export function createPathReader(baseUrl: string): (pathname: string) => string | undefined {
  const root = new URL(baseUrl).pathname;
  return (pathname) => (pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : undefined);
}
