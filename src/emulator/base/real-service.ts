/** Loopback and private networks (RFC 1918). */
const localIpv4 = /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.|^0\.0\.0\.0$/;
/** Loopback and unique local addresses (RFC 4193). */
const localIpv6 = /^\[(::1?|f[cd][\da-f]{2}:.*)\]$/;
const ipv4 = /^[\d.]+$/;

/** Names that no public service has (RFC 2606, RFC 6762), and `.internal`, as in `host.docker.internal`. */
const reserved = /\.(test|example|localhost|invalid|local|internal)$/;

/**
 * Where clouds serve the credentials and the settings of a machine: AWS, Google, Azure and others at 169.254.169.254, also as an IPv4
 * address in IPv6; containers of AWS beside it; Alibaba; Google and AWS over IPv6.
 */
const metadataAddress =
  /^169\.254\.|^100\.100\.100\.200$|^\[(::|::ffff:|64:ff9b::)(a9fe:[\da-f]+|6464:64c8)\]$|^\[fd00:ec2:|^\[fd20:ce::254\]$/;
/** Names of such hosts. Most have no dot or end in `.internal`, as names of containers do. */
const metadataName = /^(metadata|instance-data)(\.goog|\.(.+\.)?internal)?$/;

function isMetadataHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  return metadataAddress.test(name) || metadataName.test(name);
}

/** Whether a host of a URL is of this machine, a private network, or reserved. A name without a dot is one of a container or of a network. */
function isLocalHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return localIpv6.test(name);
  if (ipv4.test(name)) return localIpv4.test(name);
  return !name.includes(".") || reserved.test(name);
}

/** What is wrong with a URL of a metadata host, or of a host that looks like a real service. Returns undefined for another one. */
export function remoteFault(url: string): string | undefined {
  const { hostname } = new URL(url);
  if (isMetadataHost(hostname)) {
    return `${hostname} is a host where clouds serve the credentials of a machine, so the emulator does not call it. If you mean it, set \`allowRemote: true\``;
  }
  if (isLocalHost(hostname)) return undefined;
  return `${hostname} looks like a real service: it is not loopback, not in a private network, and not a test name such as shop.test. If you mean it, set \`allowRemote: true\``;
}

/** The words that keys of production have in the schemes of many services, such as `sk_live_…`. */
const productionWord = /(?:^|[^a-z])(?:live|prod|production)(?:[^a-z]|$)/i;

/** The key of the emulator when the options give none. */
export const defaultKey = "emulator-secret-key";

/** Whether a key is the one that this process uses for a public service. */
function isOfEnvironment(secretKey: string): boolean {
  const { POD_PARTNER_SECRET_KEY: key, POD_PARTNER_BASE_URL: url = "" } = globalThis.process?.env ?? {};
  return key === secretKey && URL.canParse(url) && remoteFault(url) !== undefined;
}

/**
 * What is wrong with a key that looks like one of the real service. Returns undefined for another one. The specification does not show
 * how keys look (5), so a key that only looks random passes. No message contains the key.
 */
export function keyFault(secretKey: string): string | undefined {
  if (secretKey === defaultKey) return undefined;
  const why = isOfEnvironment(secretKey)
    ? "it is POD_PARTNER_SECRET_KEY, and POD_PARTNER_BASE_URL names a public host"
    : productionWord.test(secretKey) && "it has the word live or prod";
  if (why === false) return undefined;
  return `the key looks like one of the real service: ${why}. The emulator shows and saves its keys: use another one. If you mean it, set \`allowRemote: true\``;
}
