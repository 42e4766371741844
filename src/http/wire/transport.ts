import type { Options } from "ky";
import { userAgent } from "../../util/runtime.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import { checkedResponse } from "./check-response.ts";
import type { FetchLike } from "./fetch-like.ts";
import { fetchFresh, platformFetch } from "./no-store.ts";
import { sendOnce } from "./single-connection.ts";
import { NeverSent } from "./thrown.ts";

/** Sends one request and returns the response. Only this file adds the header with the key. */
export type Transport = (request: EncodedRequest, signal: AbortSignal) => Promise<Response>;

export function createTransport(secretKey: string, fetchLike: FetchLike | undefined): Transport {
  // Loading ky uses `Request`, for which Node loads its whole `fetch`. A program without a client does not need it.
  const loading = import("ky").then(
    (module) => module.default,
    (error: unknown) => {
      throw new NeverSent(error);
    },
  );
  loading.catch(() => undefined);
  const agent = userAgent();
  const own: Readonly<Record<string, string>> = agent === undefined ? {} : { "user-agent": agent };
  return async ({ method, url, headers, body }, signal) => {
    const content = body === undefined || typeof body === "string" ? body : body.body();
    // Ky gets neither the key nor the signal: its errors would show the key, and it would combine the signal with its own each time.
    const init: RequestInit = {
      headers: { ...own, ...headers, "x-service-secret-key": secretKey },
      signal,
      redirect: "manual",
    };
    if (content instanceof Blob || content instanceof ReadableStream) {
      // Otherwise `fetch` keeps a copy of the whole upload for a redirect that is never followed.
      init.redirect = "error";
      init.window = null;
    }
    if (method === "POST" || method === "PATCH") sendOnce(init);
    let called = false;
    let failure: { readonly error: unknown } | undefined;
    const options: Options = {
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      fetch: async (request) => {
        called = true;
        try {
          return checkedResponse(await fetchFresh(fetchLike ?? platformFetch, request as Request, init));
        } catch (error) {
          // Ky reads the thrown value, and reading it can throw.
          failure = { error };
          throw new Error("fetch failed");
        }
      },
    };
    if (method !== "GET") options.method = method;
    if (content !== undefined) options.body = content;
    const ky = await loading;
    // The call may have ended meanwhile, and some `fetch` functions ignore their signal.
    signal.throwIfAborted();
    try {
      return await ky(url, options);
    } catch (error) {
      if (failure !== undefined) throw failure.error;
      throw called ? error : new NeverSent(error);
    }
  };
}
