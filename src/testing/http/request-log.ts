import { createPathReader } from "./base-path.ts";

/** A request that has reached the emulator. */
export interface LoggedRequest {
  readonly method: string;
  /** Relative to the base URL, with its query: `/orders?cursor=…`. */
  readonly path: string;
  /** Undefined while there is no answer: for good when the connection was dropped or the client went away. */
  readonly status: number | undefined;
}

type Entry = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };

/** How many requests are remembered: the oldest are forgotten first. */
const capacity = 1000;

/** Remembers what was asked and answered. */
export function createRequestLog(baseUrl: string) {
  const relative = createPathReader(baseUrl);
  const entries: LoggedRequest[] = [];
  return {
    entries: entries as readonly LoggedRequest[],
    /** Remembers a request; its status is filled in when it is answered. */
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
