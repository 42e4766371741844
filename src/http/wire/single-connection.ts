/** An option of Deno's `fetch` that is not in the standard. */
interface DenoInit extends RequestInit {
  client?: unknown;
}

interface Deno {
  createHttpClient?(options: { readonly poolMaxIdlePerHost: number; readonly http2: boolean }): unknown;
}

let client: unknown;

/** Creates the client at the first call. The client keeps no connection, so it needs no `close`. */
const denoClient = (): unknown => {
  client ??= (Reflect.get(globalThis, "Deno") as Deno | undefined)?.createHttpClient?.({
    poolMaxIdlePerHost: 0,
    // With HTTP/2, parallel requests would share a connection, which then counts as reused.
    http2: false,
  });
  return client;
};

/**
 * Prevents `fetch` from sending a request twice. When a reused connection breaks before the response, Deno 2.9 and Bun 1.2 send the
 * request again, also a POST that the service has carried out: the SDK would not notice, and an order would be created twice. On a new
 * connection they do not. Node never does.
 */
export function sendOnce(init: RequestInit): void {
  init.keepalive = false; // Bun
  const own = denoClient();
  if (own !== undefined) (init as DenoInit).client = own;
}
