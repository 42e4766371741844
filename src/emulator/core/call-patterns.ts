import type { Endpoint } from "../../http/endpoint.ts";
import { namesOf } from "./endpoint-names.ts";

/** Whether a pattern names an endpoint: a name such as `orders.get` or `GET /orders`, or a group of calls such as `orders.*`. */
const matches = (pattern: string, endpoint: Endpoint): boolean =>
  pattern.endsWith(".*") ? endpoint.call.startsWith(pattern.slice(0, -1)) : namesOf(endpoint).includes(pattern);

/** Whether one of the patterns names an endpoint. */
export const matchesAny = (patterns: readonly string[], endpoint: Endpoint): boolean =>
  patterns.some((pattern) => matches(pattern, endpoint));

/** The first pattern that names no endpoint. */
export const unknownPattern = (patterns: readonly string[], endpoints: readonly Endpoint[]): string | undefined =>
  patterns.find((pattern) => !endpoints.some((endpoint) => matches(pattern, endpoint)));
