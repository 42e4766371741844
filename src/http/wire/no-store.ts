import type { FetchLike } from "./fetch-like.ts";

let understood: boolean | undefined;

/** Whether the platform supports `cache`. Cloudflare Workers before 2024-11-11 refuse it, and do not cache. */
function understandsCache(): boolean {
  if (understood !== undefined) return understood;
  try {
    understood = new Request("http://localhost", { cache: "no-store" }).cache === "no-store";
  } catch {
    understood = false;
  }
  return understood;
}

/** Next.js refuses `no-store` while it prerenders a page, and treats the page as dynamic from then on. */
function isPrerendering(error: unknown): boolean {
  try {
    return Reflect.get(Object(error), "digest") === "DYNAMIC_SERVER_USAGE";
  } catch {
    return false;
  }
}

/**
 * The platform's `fetch`. Next.js 16 loses the signal of a `Request` with separate options, and then returns the first response for all
 * equal GETs of a page. With a URL it keeps the signal.
 */
export const platformFetch: FetchLike = (request, init) =>
  globalThis.fetch(request.method === "GET" ? request.url : request, init);

/** Sends a request without any cache. Otherwise Next.js 13 and 14 cache the responses of `fetch`, and polling would never end. */
export async function fetchFresh(fetchLike: FetchLike, request: Request, init: RequestInit): Promise<Response> {
  if (!understandsCache()) return fetchLike(request, init);
  try {
    return await fetchLike(request, { ...init, cache: "no-store" });
  } catch (error) {
    if (!isPrerendering(error)) throw error;
    return fetchLike(request, init);
  }
}
