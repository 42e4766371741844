import type { Endpoint } from "../../http/endpoint.ts";

/** The names of an endpoint: the client's call (`orders.create`), and the specification's endpoint (`POST /orders`). */
export const namesOf = ({ call, method, path }: Endpoint): readonly string[] => [call, `${method} ${path}`];

/** Returns the endpoints with a name. Throws a `TypeError` with the list of all names for an unknown name. */
export function endpointsNamed(name: string, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const named = endpoints.filter((endpoint) => namesOf(endpoint).includes(name));
  if (named.length > 0) return named;
  const existing = endpoints.map((endpoint) => `\n  ${namesOf(endpoint).join(" or ")}`).sort();
  throw new TypeError(`The emulator has no endpoint ${name}. It has:${existing.join("")}`);
}
