import { ConfigurationError } from "../../errors/validation.ts";
import { withFields } from "../../util/fields.ts";
import { remoteFault } from "../base/real-service.ts";

/** Where a server is to listen. */
interface Place {
  readonly port: number;
  readonly host: string;
}

const refuse = (option: string, message: string) =>
  new ConfigurationError({ issues: [{ path: [option], message }] }, "emulator");

/** Where an emulator listens, and where its clients find it. */
interface ListenAddress {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly publicUrl?: string | undefined;
}

/** Reads the options of an address. Node takes other values of a port, too: the path of a socket, or objects. */
export function readAddress<Options extends ListenAddress>(given: Options): Options {
  const options = withFields(given, (fields) => fields);
  if (Object.is(options, given))
    throw new ConfigurationError({ issues: [{ path: [], message: "expected an object" }] }, "emulator");
  const { host = "", publicUrl = "" } = options;
  // 253 is the longest name of the DNS.
  if (typeof host !== "string" || host.length > 253)
    throw refuse("host", "expected a host name or an address, for example 127.0.0.1");
  if (typeof publicUrl !== "string")
    throw refuse("publicUrl", "expected an origin, for example https://tunnel.example");
  return options;
}

/** The addresses that mean every address of the machine. No client can connect to them. */
const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The origin of a host and a port. For a host that means every address of the machine, it is that of 127.0.0.1. */
export function originOf(host: string, port: number): string {
  const name = everyAddress.has(host) ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Throws when an origin looks like one of a real service. */
function refuseRemote(option: string, origin: string): void {
  const fault = remoteFault(origin);
  if (fault !== undefined) throw refuse(option, fault);
}

/** Checks the host. Node listens on every address of the machine when the host is empty. */
export function checkedHost(host: string, allowRemote = false): string {
  if (!(/^[\w.:-]+$/.test(host) && URL.canParse(originOf(host, 0)))) {
    throw refuse("host", "expected a host name or an address, for example 127.0.0.1");
  }
  if (!allowRemote) refuseRemote("host", originOf(host, 0));
  return host;
}

/** Checks the port. */
export function checkedPort(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw refuse("port", "expected a whole number from 0 to 65535; 0 is any free port");
}

/** The origin of a public URL. A URL with more than an origin is refused. */
export function publicOrigin(publicUrl: string, allowRemote = false): string {
  const url = URL.parse(publicUrl);
  if (url !== null && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(publicUrl)) {
    if (!allowRemote) refuseRemote("publicUrl", url.origin);
    return url.origin;
  }
  throw refuse("publicUrl", "expected only an origin, for example https://tunnel.example; the base URL adds /v2");
}

/** What to do when the system does not let a server listen, by the code of its error. */
function listenIssue({ code, syscall }: NodeJS.ErrnoException, { port, host }: Place): ConfigurationError | undefined {
  const other = "Choose another `host`, for example 127.0.0.1";
  if (syscall === "getaddrinfo") return refuse("host", `The host name ${host} is unknown. ${other}`);
  switch (code) {
    case "EADDRINUSE": {
      const next = port === 65_535 ? 4010 : port + 1;
      const choose = `Stop the program that uses it, or choose another port: \`port: ${next}\` (0 is any free port)`;
      return refuse("port", `Port ${port} of ${host} is in use. ${choose}`);
    }
    case "EACCES":
      return refuse("port", `This user may not listen on port ${port}. Choose a port above 1023: \`port: 4010\``);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "EINVAL":
      return refuse("host", `${host} is not an address of this machine. ${other}`);
    default:
      return undefined;
  }
}

/** Makes the error of a server that cannot listen say what to do. Its `cause` is the error of the system. */
export function listenError(error: Error, place: Place): Error {
  const issue = listenIssue(error, place);
  return issue === undefined ? error : Object.assign(issue, { cause: error });
}

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
