import type { FetchLike } from "./fetch-like.ts";

let understood: boolean | undefined;

/** Whether the platform knows `cache`: Cloudflare's workers of before 2024-11-11 refuse it. They have no cache of their own. */
function understandsCache(): boolean {
  if (understood !== undefined) return understood;
  try {
    understood = new Request("http://localhost", { cache: "no-store" }).cache === "no-store";
  } catch {
    understood = false;
  }
  return understood;
}

/** Next.js refuses `no-store` while it builds a page in advance, and from then on takes the page for a dynamic one. */
function isPrerendering(error: unknown): boolean {
  try {
    return Reflect.get(Object(error), "digest") === "DYNAMIC_SERVER_USAGE";
  } catch {
    return false;
  }
}

/**
 * The platform's `fetch`. Next.js 16 loses the signal of a `Request` that has options beside it, and then gives all equal GETs of
 * a page the first one's response; with a URL it keeps the signal.
 */
export const platformFetch: FetchLike = (request, init) =>
  globalThis.fetch(request.method === "GET" ? request.url : request, init);

/** Sends a request past every cache: Next.js 13 and 14 keep the responses of `fetch` otherwise, and polling would never end. */
export async function fetchFresh(fetchLike: FetchLike, request: Request, init: RequestInit): Promise<Response> {
  if (!understandsCache()) return fetchLike(request, init);
  try {
    return await fetchLike(request, { ...init, cache: "no-store" });
  } catch (error) {
    if (!isPrerendering(error)) throw error;
    return fetchLike(request, init);
  }
}
