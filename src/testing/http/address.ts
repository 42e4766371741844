import { ConfigurationError } from "../../errors/validation.ts";
import { withFields } from "../../util/split-fields.ts";
import { remoteFault } from "../remote.ts";

const refuse = (option: string, message: string) =>
  new ConfigurationError({ issues: [{ path: [option], message }] }, "emulator");

/** Where an emulator listens, and where its clients find it. */
interface Address {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly publicUrl?: string | undefined;
}

/** Reads the options of an address. Node takes other values of a port, too: the path of a socket, or objects. */
export function readAddress<Options extends Address>(given: Options): Options {
  const options = withFields(given, (fields) => fields);
  if (Object.is(options, given))
    throw new ConfigurationError({ issues: [{ path: [], message: "expected an object" }] }, "emulator");
  const { port = 0, host = "", publicUrl = "" } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw refuse("port", "expected a number from 0 to 65535");
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

/** The origin of a public URL. A URL with more than an origin is refused. */
export function publicOrigin(publicUrl: string, allowRemote = false): string {
  const url = URL.parse(publicUrl);
  if (url !== null && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(publicUrl)) {
    if (!allowRemote) refuseRemote("publicUrl", url.origin);
    return url.origin;
  }
  throw refuse("publicUrl", "expected only an origin, for example https://tunnel.example; the base URL adds /v2");
}
