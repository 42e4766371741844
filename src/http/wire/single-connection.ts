/** What Deno's `fetch` takes beside the standard. */
interface DenoInit extends RequestInit {
  client?: unknown;
}

interface Deno {
  createHttpClient?(options: { readonly poolMaxIdlePerHost: number; readonly http2: boolean }): unknown;
}

let client: unknown;

/** Made at the first call; it holds no connection, so there is nothing to close. */
const denoClient = (): unknown => {
  client ??= (Reflect.get(globalThis, "Deno") as Deno | undefined)?.createHttpClient?.({
    poolMaxIdlePerHost: 0,
    // Requests of one moment would share a connection, which then counts as used.
    http2: false,
  });
  return client;
};

/**
 * Keeps a `fetch` from sending a request twice. When a connection that was kept from an earlier request breaks before the answer,
 * Deno 2.9 and Bun 1.2 send the request again by themselves, also a POST that the service has carried out: the SDK
 * would never hear of it, and an order would be made twice. On a connection of its own they do not. Node never does.
 */
export function sendOnce(init: RequestInit): void {
  init.keepalive = false; // Bun
  const own = denoClient();
  if (own !== undefined) (init as DenoInit).client = own;
}
