/** Loopback and private networks (RFC 1918). Not 169.254.0.0/16, where clouds serve the credentials of a machine. */
const localIpv4 = /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.|^0\.0\.0\.0$/;
/** Loopback and unique local addresses (RFC 4193). */
const localIpv6 = /^\[(::1?|f[cd][\da-f]{2}:.*)\]$/;
const ipv4 = /^[\d.]+$/;

/** Names that no public service has (RFC 2606, RFC 6762), and `.internal`, as in `host.docker.internal`. */
const reserved = /\.(test|example|localhost|invalid|local|internal)$/;

/** Whether a host of a URL is of this machine, a private network, or reserved. A name without a dot is one of a container or of a network. */
function isLocalHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return localIpv6.test(name);
  if (ipv4.test(name)) return localIpv4.test(name);
  return !name.includes(".") || reserved.test(name);
}

/** What is wrong with a URL that looks like one of a real service. Returns undefined for another one. */
export function remoteFault(url: string): string | undefined {
  const { hostname } = new URL(url);
  if (isLocalHost(hostname)) return undefined;
  return `${hostname} looks like a real service: it is not loopback, not in a private network, and not a test name such as shop.test. If you mean it, set \`allowRemote: true\``;
}
