import { createRequire } from "node:module";
import type { Emulator } from "./emulator.ts";

/** The part of MSW that is used. Its own types stay out of the package's: it is an optional peer dependency. */
interface Msw<Handler> {
  readonly http: {
    all(path: string, resolver: (info: { readonly request: Request }) => Promise<Response>): Handler;
  };
}

/**
 * Gives MSW (version 3) request handlers that let an emulator answer everything under its base URL. Needs `msw` to be installed.
 *
 * The handlers have the type that is asked for: `setupServer(...emulatorHandlers(emulator))` infers it; otherwise name it,
 * as in `emulatorHandlers<HttpHandler>(emulator)`.
 *
 * @example
 * const server = setupServer(...emulatorHandlers(emulator));
 * server.listen();
 */
export function emulatorHandlers<Handler>(emulator: Pick<Emulator, "baseUrl" | "fetch">): Handler[] {
  const msw: Msw<Handler> = createRequire(import.meta.url)("msw");
  return [msw.http.all(`${emulator.baseUrl}/*`, ({ request }) => emulator.fetch(request))];
}
