import { GoneError, NotFoundError } from "../errors/api.ts";

/**
 * Whether the service itself says that the order does not exist. Its errors have a code (specification 7); the 404 of a gateway or of a
 * wrong base URL has none, and then the order may well exist.
 */
export const saysGone = (error: unknown): boolean =>
  (NotFoundError.isInstance(error) || GoneError.isInstance(error)) && error.code !== undefined;
