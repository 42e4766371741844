import { createRequire } from "node:module";
import type { Emulator } from "../emulator.ts";
import { isBrokenConnection } from "../faults/broken-connection.ts";

/**
 * The part of MSW that is used. Its own types stay out of the package's, since it is an optional peer dependency; where no
 * type is asked for, a handler is `never`: the one type that fits MSW's class without naming it.
 */
interface Msw<Handler> {
  readonly http: {
    all(path: string, resolver: (info: { readonly request: Request }) => Promise<Response>): Handler;
  };
}

/**
 * Gives MSW (2 or 3) request handlers that let an emulator answer everything under its base URL. Needs `msw` to be installed.
 *
 * They fit wherever MSW asks for handlers. Name the type to look inside one: `emulatorHandlers<HttpHandler>(emulator)`.
 *
 * @example
 * const server = setupServer(...emulatorHandlers(emulator));
 * server.listen();
 */
export function emulatorHandlers<Handler = never>(emulator: Pick<Emulator, "baseUrl" | "fetch">): Handler[] {
  const msw: Msw<Handler> = createRequire(import.meta.url)("msw");
  return [msw.http.all(`${emulator.baseUrl}/*`, ({ request }) => emulator.fetch(request).catch(toNetworkError))];
}

/** MSW makes a 500 of what a handler throws: a dropped connection has an answer of its own there. */
function toNetworkError(error: unknown): Response {
  if (isBrokenConnection(error)) return Response.error();
  throw error;
}
