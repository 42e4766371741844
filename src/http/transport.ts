import ky, { isNetworkError } from "ky";
import type { Upload } from "../binary/source.ts";
import type { EncodedRequest } from "./encode.ts";

/** What the SDK asks of a `fetch`: the platform's own, an emulator's, or a partner's. */
export type FetchLike = (request: Request, init?: RequestInit) => Promise<Response>;

/** Sends one request and gives the answer's head. The key's header is added here and nowhere else. */
export type Transport = (request: EncodedRequest, signal: AbortSignal) => Promise<Response>;

const isUpload = (body: string | Upload): body is Upload => typeof body !== "string";

export function createTransport(secretKey: string, fetchLike: FetchLike | undefined): Transport {
  return async ({ method, url, headers, body }, signal) => {
    const upload = body !== undefined && isUpload(body);
    // Only with these two does fetch not keep a copy of the whole upload for a redirect that is never followed.
    const redirect = upload ? "error" : "manual";
    const init: RequestInit = { signal, redirect, window: null };
    try {
      return await ky(url, {
        method,
        headers: { ...headers, "x-service-secret-key": secretKey },
        body: upload ? body.body() : body,
        redirect,
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // Ky would join the signal with one of its own, at each attempt.
        fetch: (request) => (fetchLike ?? globalThis.fetch)(request as Request, init),
      });
    } catch (error) {
      // Ky's own error carries the request, and with it the key.
      throw isNetworkError(error) ? error.cause : error;
    }
  };
}
