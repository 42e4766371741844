import type { KyInstance, Options } from "ky";
import { checkedResponse } from "./check-response.ts";
import type { FetchLike } from "./fetch-like.ts";
import { fetchFresh, platformFetch } from "./no-store.ts";
import { openBody } from "./read-text.ts";
import { sendOnce } from "./single-connection.ts";
import { NeverSent } from "./thrown.ts";
import type { Transport, WireRequest } from "./transport.ts";

/** Loads ky. Loading it uses `Request`, for which Node loads its whole `fetch`: a program without a client does not need it. */
const loadKy = (): Promise<KyInstance> =>
  import("ky").then(
    (module) => module.default,
    (error: unknown) => {
      throw new NeverSent(error);
    },
  );

/** The options of `fetch` that ky does not get: its errors would show the key, and it would combine the signal with its own each time. */
function initOf({ method, headers, content }: WireRequest, signal: AbortSignal): RequestInit {
  const init: RequestInit = { headers, signal, redirect: "manual" };
  if (content instanceof Blob || content instanceof ReadableStream) {
    // Otherwise `fetch` keeps a copy of the whole upload for a redirect that is never followed.
    init.redirect = "error";
    init.window = null;
  }
  if (method === "POST" || method === "PATCH") sendOnce(init);
  return init;
}

/** Sends the request that ky made. */
type SendMade = (made: Request) => Promise<Response>;

/** Calls ky. An error of `fetch` itself is thrown unchanged; any other error means that nothing was sent. */
async function callKy(ky: KyInstance, { method, url, content }: WireRequest, fetch: SendMade): Promise<Response> {
  let called = false;
  let failure: { readonly error: unknown } | undefined;
  const options: Options = {
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    fetch: async (request) => {
      called = true;
      try {
        return checkedResponse(await fetch(request as Request));
      } catch (error) {
        // Ky reads the thrown value, and reading it can throw.
        failure = { error };
        throw new Error("fetch failed");
      }
    },
  };
  if (method !== "GET") options.method = method;
  if (content !== undefined) options.body = content;
  try {
    return await ky(url, options);
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    throw called ? error : new NeverSent(error);
  }
}

/** The default transport: ky over the platform's `fetch`, or over the caller's own. */
export function fetchTransport(fetchLike: FetchLike = platformFetch): Transport {
  const loading = loadKy();
  loading.catch(() => undefined);
  return {
    kind: "fetch",
    send: async (request: WireRequest, signal: AbortSignal) => {
      const init = initOf(request, signal);
      const ky = await loading;
      // The call may have ended meanwhile, and some `fetch` functions ignore their signal.
      signal.throwIfAborted();
      const response = await callKy(ky, request, (made) => fetchFresh(fetchLike, made, init));
      return { head: response, body: openBody(response) };
    },
  };
}
