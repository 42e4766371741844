import { toApiError } from "../wire/error-mapping.ts";
import { type Arrival, isFileReady } from "../wire/exchange.ts";
import { snapshot } from "../wire/redact.ts";
import type { CallDetails } from "./call-details.ts";

/** Throws the typed error of a response that is not a success. */
export function assertAccepted({ core, endpoint, name }: CallDetails, { response, text }: Arrival, url: string): void {
  const { status } = response;
  // A 304 is not a redirect: it is valid after a conditional request, and decoding reports it after any other.
  const accepted = endpoint.response.kind === "binary" ? isFileReady(response) || status === 304 : response.ok;
  if (accepted) return;
  throw toApiError({
    response: snapshot(status, response.headers, text, core.redact),
    headers: response.headers,
    endpoint: name,
    url,
    now: core.clock.now(),
  });
}
