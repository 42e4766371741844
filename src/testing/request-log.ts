import { createPathReader } from "./base-path.ts";

/** A request that the emulator has answered. */
export interface LoggedRequest {
  readonly method: string;
  /** Relative to the base URL, with its query: `/orders?cursor=…`. */
  readonly path: string;
  readonly status: number;
}

/** How many requests are remembered: the oldest are forgotten first. */
const capacity = 1000;

/** Remembers what was asked and answered. */
export function createRequestLog(baseUrl: string) {
  const relative = createPathReader(baseUrl);
  const entries: LoggedRequest[] = [];
  return {
    entries: entries as readonly LoggedRequest[],
    add: (request: Request, response: Response): void => {
      const { pathname, search } = new URL(request.url);
      const path = (relative(pathname) ?? pathname) + search;
      entries.push({ method: request.method, path, status: response.status });
      if (entries.length > capacity) entries.shift();
    },
  };
}
