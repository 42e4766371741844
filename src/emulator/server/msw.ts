import { createRequire } from "node:module";
import { isBrokenConnection } from "../base/messages.ts";
import type { Emulator } from "./emulator.ts";

/**
 * The part of MSW that is used. The package's types do not import MSW's types, because MSW is an optional peer dependency. The default
 * type of a handler is `never`, which is assignable to MSW's class.
 */
interface Msw<Handler> {
  readonly http: {
    all(path: string, resolver: (info: { readonly request: Request }) => Promise<Response>): Handler;
  };
}

/**
 * Makes request handlers for MSW 2 or 3. The emulator responds to every request under its base URL. Requires the package `msw`.
 *
 * The handlers are assignable wherever MSW takes handlers. To read their properties, give the type:
 * `emulatorHandlers<HttpHandler>(emulator)`.
 *
 * @example
 * const server = setupServer(...emulatorHandlers(emulator));
 * server.listen();
 */
export function emulatorHandlers<Handler = never>(emulator: Pick<Emulator, "baseUrl" | "fetch">): Handler[] {
  const msw: Msw<Handler> = createRequire(import.meta.url)("msw");
  return [msw.http.all(`${emulator.baseUrl}/*`, ({ request }) => emulator.fetch(request).catch(toNetworkError))];
}

/** MSW turns an error that a handler throws into a 500. `Response.error()` makes it a network error. */
function toNetworkError(error: unknown): Response {
  if (isBrokenConnection(error)) return Response.error();
  throw error;
}
