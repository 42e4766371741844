import { createPathReader } from "./base-path.ts";

/** A request that reached the emulator. */
export interface LoggedRequest {
  readonly method: string;
  /** Relative to the base URL, with the query: `/orders?cursor=…`. */
  readonly path: string;
  /** Undefined until the emulator responds. It stays undefined when the connection was dropped or the client aborted. */
  readonly status: number | undefined;
}

type Entry = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };

/** The number of requests that the log keeps. It removes the oldest first. */
const capacity = 1000;

/** Makes a log of requests and the statuses of their responses. */
export function createRequestLog(baseUrl: string) {
  const relative = createPathReader(baseUrl);
  const entries: LoggedRequest[] = [];
  return {
    entries: entries as readonly LoggedRequest[],
    /** Adds a request. The caller sets the status of the entry later. */
    add: (request: Request): Entry => {
      const { pathname, search } = new URL(request.url);
      const path = (relative(pathname) ?? pathname) + search;
      const entry: Entry = { method: request.method, path, status: undefined };
      entries.push(entry);
      if (entries.length > capacity) entries.shift();
      return entry;
    },
  };
}
