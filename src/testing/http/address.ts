import { ConfigurationError } from "../../errors/validation.ts";
import { remoteFault } from "../remote.ts";

const refuse = (option: string, message: string) =>
  new ConfigurationError({ issues: [{ path: [option], message }] }, "emulator");

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
