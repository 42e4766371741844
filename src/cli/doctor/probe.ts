import type { PodPartner, RateLimits } from "pod-partner";
import { clientFor, type Sdk, type Settings } from "./settings.ts";

/** The first request: a validation of the key. */
export interface Probe {
  /** The client, for the next requests. */
  readonly partner: PodPartner;
  /** The response, also of an error status; undefined when none came. */
  readonly response: ProbeResponse | undefined;
  /** The error of the call; undefined when the key is valid. */
  readonly error: unknown;
  readonly rateLimits: RateLimits;
}

interface ProbeResponse {
  readonly status: number;
  /** Milliseconds since 1970, in the middle between request and response. */
  readonly at: number;
  /** Milliseconds from the request to the response. */
  readonly took: number;
  header(name: string): string | undefined;
}

type Head = Pick<ProbeResponse, "status" | "header">;

/** The head of an error's response. Status 0 means that `fetch` hid the response. */
function headOf(sdk: Sdk, error: unknown): Head | undefined {
  const hasResponse = error instanceof sdk.ApiError || error instanceof sdk.ResponseValidationError;
  if (!hasResponse || error.response.status === 0) return undefined;
  const { status, headers } = error.response;
  return { status, header: (name: string) => headers[name] };
}

/** Sends `POST /auth/validate`, which changes nothing. */
export async function probe(sdk: Sdk, settings: Settings): Promise<Probe> {
  // Loads Node's `fetch`, so that the measured time is that of the connection. It sends nothing.
  await fetch("data:,");
  let [sent, received] = [Date.now(), Date.now()];
  const partner = clientFor(sdk, settings, {
    onRequest: () => {
      sent = Date.now();
    },
    onResponse: () => {
      received = Date.now();
    },
  });
  const result = (head: Head | undefined, error: unknown): Probe => {
    const response = head && { ...head, at: (sent + received) / 2, took: received - sent };
    return { partner, response, error, rateLimits: partner.rateLimits };
  };
  try {
    const { response } = await partner.auth.validate().withResponse();
    const header = (name: string) => response.headers.get(name) ?? undefined;
    return result({ status: response.status, header }, undefined);
  } catch (error) {
    return result(headOf(sdk, error), error);
  }
}
