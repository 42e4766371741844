import * as z from "zod/mini";
import { ConfigurationError, type Issue } from "../errors/validation.ts";
import { checkedConfiguration, unknownOption } from "../schemas/check.ts";
import { attempt } from "../util/foreign.ts";

/** Options of {@link nodeTransport}. */
export interface NodeTransportOptions {
  /**
   * The maximum number of open connections for reads, and the same number again for writes. A request that waits for a connection has its
   * tokens already, so a 429 does not hold it: to send fewer requests, use `pacing.perSecond`. Default: no limit.
   */
  readonly maxSockets?: number | undefined;
  /** Milliseconds to open a connection, a proxy's tunnel and TLS included. After that the request counts as not sent. Default 10 000. */
  readonly connectTimeout?: number | undefined;
  /**
   * Certificates in PEM format, used instead of Node's own list of authorities. To add to that list, set the environment variable
   * `NODE_EXTRA_CA_CERTS`.
   */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /**
   * The proxy: its URL, `true` for `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` of the environment, also in lower case, or `false`
   * for none. Default: `true` if the environment variable `NODE_USE_ENV_PROXY` is `1`, as for `fetch`. A proxy needs Node 22.21, 24.5 or
   * newer.
   */
  readonly proxy?: boolean | string | undefined;
}

/** The options, complete and checked. */
export interface ResolvedNodeOptions {
  readonly maxSockets: number;
  readonly connectTimeout: number;
  readonly ca: (string | Buffer)[] | undefined;
  readonly proxyEnv: NodeJS.ProcessEnv | undefined;
}

/** The URL of a proxy as Node's agents take it; undefined for any other text. */
function proxyUrlOf(text: string): string | undefined {
  const url = /^["'`]|\s|["'`]$/.test(text.trim()) ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // Node decodes the user and the password.
  return attempt(() => decodeURIComponent(url.username + url.password)) === undefined ? undefined : url.href;
}

const isProxyUrl = (value: unknown): boolean =>
  typeof value === "boolean" || (typeof value === "string" && proxyUrlOf(value) !== undefined);

const isPem = (value: unknown): boolean =>
  typeof value === "string" ? value.includes("-----BEGIN") : ArrayBuffer.isView(value) && value.byteLength > 0;

const defaults = { maxSockets: Number.POSITIVE_INFINITY, connectTimeout: 10_000 };

const schema = () =>
  z.strictObject({
    maxSockets: z._default(z.int().check(z.positive()), defaults.maxSockets),
    connectTimeout: z._default(z.number().check(z.positive()), defaults.connectTimeout),
    ca: z.optional(
      z.custom((value) => (Array.isArray(value) ? value.length > 0 && value.every(isPem) : isPem(value)), {
        error: "expected certificates in PEM format, as text or bytes",
      }),
    ),
    proxy: z.optional(
      z.custom(isProxyUrl, {
        error: "expected true, false or the URL of a proxy, which begins with http:// or https://",
      }),
    ),
  });

const unknown = unknownOption({ timeout: "connectTimeout" });

/** Whether the agents of this Node can use a proxy. */
function canProxy(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/** The first of these variables of the environment that has a value, as curl reads them. */
function variableOf(...names: readonly string[]): readonly [name: string, value: string] | undefined {
  const given = names.map((name) => [name, process.env[name]?.trim() ?? ""] as const);
  return given.find(([, value]) => value !== "");
}

const proxyFault =
  "expected the URL of a proxy, `http://host:port`, `https://host:port` or `host:port`, without quotes. A SOCKS proxy cannot be used. `proxy: false` ignores the environment";

/**
 * The proxies of the environment, in the variables and the form that Node's agents take. They would connect past a proxy whose URL they do not
 * know, for example one without `http://`, as curl takes it.
 */
function proxiesOfEnvironment(): NodeJS.ProcessEnv {
  const issues: Issue[] = [];
  const found: NodeJS.ProcessEnv = {};
  for (const protocol of ["http", "https"]) {
    const own = `${protocol}_proxy`;
    const [name = "", value = ""] = variableOf(own, own.toUpperCase(), "all_proxy", "ALL_PROXY") ?? [];
    if (value === "") continue;
    const url = proxyUrlOf(/^[a-z][a-z\d+.-]*:\//i.test(value) ? value : `http://${value}`);
    if (url !== undefined) found[own.toUpperCase()] = url;
    else if (issues.every(({ path }) => path[0] !== name)) issues.push({ path: [name], message: proxyFault });
  }
  const [name = "", hosts = ""] = variableOf("no_proxy", "NO_PROXY") ?? [];
  if (/["'`]/.test(hosts)) issues.push({ path: [name], message: "expected hosts, without quotes" });
  if (issues.length > 0) throw new ConfigurationError({ issues });
  // Node's agents separate hosts by commas only, take `.a.example` for the end of `ba.example`, too, and a dot for the end of all.
  const bypassed = hosts
    .split(/[\s,]+/)
    .map((host) => host.replace(/^\.+(.*)/, (_, name) => name && `${name},*.${name}`));
  return { ...found, NO_PROXY: bypassed.join() };
}

/** The variables in which Node's agents find the proxy; undefined for none. */
function proxyEnvOf(proxy: boolean | string | undefined): NodeJS.ProcessEnv | undefined {
  if (!(proxy ?? process.env.NODE_USE_ENV_PROXY === "1")) return undefined;
  if (canProxy()) {
    const url = typeof proxy === "string" ? proxyUrlOf(proxy) : undefined;
    return url === undefined ? proxiesOfEnvironment() : { HTTP_PROXY: url, HTTPS_PROXY: url };
  }
  const why =
    proxy === undefined ? " The environment variable NODE_USE_ENV_PROXY asks for a proxy; `false` ignores it." : "";
  const message = `needs Node 22.21, 24.5 or newer; this is Node ${process.versions.node}. Use the default transport with a \`fetch\` that has the proxy.${why}`;
  throw new ConfigurationError({ issues: [{ path: ["proxy"], message }] });
}

/**
 * Checks the options of the transport and completes them: without options there is nothing to check, which would take time in a new
 * process. Throws `ConfigurationError` with all faults.
 */
export function resolveNodeOptions(given: NodeTransportOptions | undefined): ResolvedNodeOptions {
  const { bun, deno, node } = globalThis.process?.versions ?? {};
  if (bun !== undefined || deno !== undefined || node === undefined) {
    const message = "nodeTransport needs Node: leave out the option `transport`, and the client uses `fetch`";
    throw new ConfigurationError({ issues: [{ path: [], message }] });
  }
  const { maxSockets, connectTimeout, ca, proxy }: NodeTransportOptions & typeof defaults =
    given === undefined ? defaults : checkedConfiguration(schema, given, undefined, unknown);
  const certificates =
    ca === undefined ? undefined : [ca].flat().map((one) => (typeof one === "string" ? one : Buffer.from(one)));
  return { maxSockets, connectTimeout, ca: certificates, proxyEnv: proxyEnvOf(proxy) };
}
