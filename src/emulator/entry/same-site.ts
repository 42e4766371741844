/**
 * Whether a request to the page or the controls comes from this machine's own pages and programs. A page of another site sends its own
 * `Origin`, or, after DNS rebinding, its own `Host`.
 */
export function isSameSite(headers: Headers, hosts: ReadonlySet<string>): boolean {
  const host = headers.get("Host") ?? "";
  const origin = headers.get("Origin");
  const site = headers.get("Sec-Fetch-Site");
  if (!hosts.has(host)) return false;
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  if (origin === null) return true;
  const url = URL.parse(origin);
  // The origin of a page of the emulator has no credentials, and its protocol is http, or https behind a tunnel.
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === origin && hosts.has(url.host);
}

/** The values of `Host` that name a server on a port of this machine. */
export const loopbackHosts = (port: number): Set<string> =>
  new Set(["127.0.0.1", "localhost", "[::1]"].map((name) => new URL(`http://${name}:${port}`).host));
