import type { KyInstance, Options } from "ky";
import { chunksOf } from "../binary/streams.ts";
import { attempt, isFunction, propertyOf, textOf, wordsOf } from "../util/foreign.ts";
import { isWebStream } from "../util/kinds.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { NeverSent } from "./connection-errors.ts";
import { isStreamed, knownContent, knownSignal } from "./platform-values.ts";
import { openBody, type Received, type Stop, type Transport, type WireRequest } from "./transport.ts";

/** The `fetch` that the SDK uses: the platform's, an emulator's, or the caller's own. */
export type FetchLike = (request: Request, init?: RequestInit) => Promise<Response>;

/** How a `fetch` is really called: one that is not the platform's may get a URL. */
type AnyFetch = (request: Request | string, init?: RequestInit) => Promise<Response>;

/** Whether the headers can be read like those of the platform's `Response`. */
function areHeaders(headers: unknown): boolean {
  if (attempt(() => headers instanceof Headers)) return true;
  const isPair = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === "string");
  return (
    attempt(() => [...(headers as Iterable<unknown>)].every(isPair)) === true &&
    isFunction(propertyOf(headers, "get")) &&
    isFunction(propertyOf(headers, "has"))
  );
}

/** The head of what `fetch` returned, as a plain object: the getters of the platform's `Response` are slow. Undefined if it is no response. */
function headOf(response: Response): ResponseHead | undefined {
  const { status, ok, headers } = response;
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 999;
  if (!isStatus || ok !== (status >= 200 && status <= 299) || !areHeaders(headers)) return undefined;
  return {
    status,
    ok,
    headers,
    get url() {
      return response.url;
    },
    toResponse: () => response,
  };
}

/**
 * Opens what `fetch` returned if it is a response, and throws otherwise: a caller's own `fetch` can return anything, and
 * `Response.error()` stands for a connection that failed.
 */
function received(given: Response): Received {
  const type = propertyOf(given, "type");
  if (type === "error") throw new TypeError("`fetch` returned an error response");
  if (type === "opaqueredirect") throw new TypeError("unexpected redirect");
  const head = attempt(() => headOf(given));
  if (head !== undefined) return { head, body: openBody(given) };
  // An open body would keep its socket open.
  attempt(() => chunksOf(propertyOf(given, "body"))?.close());
  throw new TypeError(`\`fetch\` returned ${wordsOf(given)}, which is not a Response`);
}

const supported = new Map<"cache" | "redirect", boolean>();

/**
 * Whether the platform supports an option of `fetch`. Cloudflare Workers refuse `redirect: "error"`, and before 2024-11-11 `cache`; they do not
 * cache.
 */
function supports(option: "cache" | "redirect", value: string): boolean {
  const known =
    supported.get(option) ??
    attempt(() => new Request("http://localhost", { [option]: value })[option] === value) ??
    false;
  supported.set(option, known);
  return known;
}

/** Next.js refuses `no-store` while it prerenders a page, and treats the page as dynamic from then on. */
const isPrerendering = (error: unknown): boolean => propertyOf(error, "digest") === "DYNAMIC_SERVER_USAGE";

/**
 * The platform's `fetch`. Next.js 16 loses the signal of a `Request` with separate options, and then returns the first response for all
 * equal GETs of a page. With a URL it keeps the signal.
 */
const platformFetch: AnyFetch = (request, init) => {
  const { fetch } = globalThis;
  if (typeof fetch !== "function") throw new NeverSent(new TypeError("this platform has no `fetch`"));
  return fetch(typeof request === "object" && request.method === "GET" ? request.url : request, init);
};

/** Calls `fetch`, without the option `cache` where it is refused. */
async function callFetch(fetchLike: AnyFetch, request: Request | string, init: RequestInit): Promise<Response> {
  try {
    return await fetchLike(request, init);
  } catch (error) {
    if (!isPrerendering(error)) throw error;
    const { cache: _, ...others } = init;
    return fetchLike(request, others);
  }
}

/** An option of Deno's `fetch` that is not in the standard. */
interface DenoInit extends RequestInit {
  client?: unknown;
}

interface Deno {
  createHttpClient?(options: { readonly poolMaxIdlePerHost: number; readonly http2: boolean }): unknown;
}

let oneRequestClient: unknown;

/** Creates the client at the first call. The client keeps no connection, so it needs no `close`. */
const denoClient = (): unknown => {
  oneRequestClient ??= (Reflect.get(globalThis, "Deno") as Deno | undefined)?.createHttpClient?.({
    poolMaxIdlePerHost: 0,
    // With HTTP/2, parallel requests would share a connection, which then counts as reused.
    http2: false,
  });
  return oneRequestClient;
};

/**
 * Prevents `fetch` from sending a request twice. When a reused connection breaks before the response, Deno 2.9 and Bun 1.2 send the
 * request again, also a POST that the service has carried out: the SDK would not notice, and an order would be created twice. On a new
 * connection they do not. Node never does.
 */
function preventResend(init: RequestInit): void {
  init.keepalive = false; // Bun
  const client = denoClient();
  if (client !== undefined) (init as DenoInit).client = client;
}

/** Loads ky. Loading it uses `Request`, for which Node loads its whole `fetch`: a program without a client does not need it. */
const loadKy = (): Promise<KyInstance> =>
  import("ky").then(
    (module) => module.default,
    (error: unknown) => {
      throw new NeverSent(error);
    },
  );

/** The options of `fetch` that ky does not get: its errors would show the key, and it would combine the signal with its own each time. */
function initOf({ method, headers, content }: WireRequest, signal: AbortSignal | undefined): RequestInit {
  const init: RequestInit = { headers, redirect: "manual" };
  // Otherwise Next.js 13 and 14 cache the responses of `fetch`, and polling would never end.
  if (supports("cache", "no-store")) init.cache = "no-store";
  if (signal !== undefined) init.signal = signal;
  if (isStreamed(content)) {
    // Otherwise `fetch` keeps a copy of the whole upload for a redirect that is never followed.
    if (supports("redirect", "error")) init.redirect = "error";
    init.window = null;
  }
  if (method === "POST" || method === "PATCH") preventResend(init);
  return init;
}

/** Sends the request that ky made. */
type SendMade = (made: Request) => Promise<Response>;

/** Calls ky. An error of `fetch` itself is thrown unchanged; any other error means that nothing was sent. */
async function callKy(ky: KyInstance, { method, url, content }: WireRequest, fetch: SendMade): Promise<Received> {
  let opened: Received | undefined;
  let failure: { readonly error: unknown } | undefined;
  const options: Options = {
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    fetch: async (request) => {
      try {
        const response = await fetch(request as Request);
        opened = received(response);
        return response;
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
    await ky(url, options);
  } catch (error) {
    failure ??= { error: new NeverSent(error) };
  }
  if (opened !== undefined) return opened;
  throw failure?.error;
}

/** Whether a `fetch` refuses the platform's `Request`, as that of the package undici does: then nothing was sent. */
const refusesRequest = (error: unknown): boolean => textOf(error, "message")?.includes("[object Request]") === true;

/** What a `fetch` gets instead of the `Request`. */
const partsOf = ({ method, content }: WireRequest, init: RequestInit): RequestInit => ({
  ...init,
  method,
  ...(content !== undefined && { body: content }),
  ...(isWebStream(content) && { duplex: "half" }),
});

/** The default transport: ky over the platform's `fetch`, or over the caller's own. */
export function fetchTransport(given?: FetchLike): Transport {
  const fetchLike = (given as AnyFetch | undefined) ?? platformFetch;
  let ky: KyInstance | undefined;
  const loading = loadKy();
  loading.catch(() => undefined);
  /** Whether `fetch` gets a URL, because it does not take the platform's `Request`. */
  let byUrl = false;
  return {
    kind: "fetch",
    send: async (wire: WireRequest, stop: Stop) => {
      ky ??= await loading;
      const request = isStreamed(wire.content) ? { ...wire, content: await knownContent(wire.content) } : wire;
      // The call may have ended by now, and some `fetch` functions ignore their signal.
      stop.check();
      const { signal } = stop;
      const known = knownSignal(signal);
      const init = initOf(request, known);
      const sendByUrl = () => callFetch(fetchLike, request.url, partsOf(request, init));
      const sendMade = async (made: Request) => {
        if (byUrl) return sendByUrl();
        try {
          return await callFetch(fetchLike, made, init);
        } catch (error) {
          if (!refusesRequest(error)) throw error;
          byUrl = true;
          return sendByUrl();
        }
      };
      // Ky uses the global classes, also for a signal of its own.
      const suitsKy = known === signal && isFunction(globalThis.Headers) && isFunction(globalThis.Response);
      return suitsKy ? callKy(ky, request, sendMade) : received(await sendByUrl());
    },
  };
}
