/** Where a request goes, as `node:http` takes it. */
export interface Target {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
}

/** A path and a query that the URL parser leaves unchanged, apart from segments of dots. It drops an empty query. */
const plain = /^\/[\w\-.~!$&()*+,;=:@%/?]*(?<!\?)$/;
const dots = /\/(?:\.|%2e)/i;

/** The requests of a client have one origin: it is parsed once, because parsing takes longer than the rest of a target. */
let latest: { readonly origin: string; readonly server: Omit<Target, "path"> } | undefined;

/** Splits the URL of a request. */
export function targetOf(url: string): Target {
  if (latest !== undefined && url.startsWith(latest.origin)) {
    const path = url.slice(latest.origin.length);
    if (plain.test(path) && !dots.test(path)) return { ...latest.server, path };
  }
  const { protocol, hostname, port, pathname, search, origin } = new URL(url);
  // The brackets of an IPv6 address are not part of the address.
  const server = { protocol, hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname, port };
  latest = { origin, server };
  return { ...server, path: pathname + search };
}
