import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { knownSignal } from "../../http/platform-values.ts";
import { abortController } from "../../util/abort-signals.ts";
import { isBrokenConnection, traceRequest, WholeResponse } from "../base/messages.ts";
import { nameOfChange } from "../controls/table.ts";
import { createPage } from "../page/page.ts";
import { type EmulatorOptions, toSettings } from "../settings/options.ts";
import {
  checkedHost,
  checkedPort,
  isSameSite,
  listenError,
  loopbackHosts,
  originOf,
  publicOrigin,
  readAddress,
} from "./address.ts";
import { respondToControl, respondWithCoverage, respondWithRequests } from "./control-plane.ts";
import { createParts, type Emulator, type EmulatorParts } from "./emulator.ts";
import { respondWithOpenapi } from "./openapi.ts";
import { createParallelWorlds, type ParallelWorlds } from "./parallel-worlds.ts";

/** The status of what Node's parser refuses, by the code of its error. */
const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/**
 * Responds with the error object to a request that is not HTTP, as to every refusal (specification 7, rule 1). Node responds without a body.
 *
 * Only the first request of a connection has a response: on a later one, it could become a part of another response.
 */
function refuseMalformed(error: NodeJS.ErrnoException, stream: Duplex): void {
  const { writable, bytesWritten } = stream as Socket;
  if (!writable || bytesWritten > 0 || error.code === "ECONNRESET") {
    stream.destroy();
    return;
  }
  const status = statuses.get(error.code) ?? "400 Bad Request";
  const body = JSON.stringify({
    code: "unknown_input_error",
    message: `The request is not valid HTTP: ${error.message}`,
  });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  stream.end(`${head}Connection: close\r\n\r\n${body}`, () => stream.destroy());
}

/** The options of an emulator on a port. Its base URL follows from the host and the port, or from `publicUrl`. */
export interface StartEmulatorOptions extends Omit<EmulatorOptions, "baseUrl"> {
  /** The port. Default: a free port. */
  readonly port?: number;
  /**
   * The host name or address to listen on. Default `127.0.0.1`, which only programs of this machine can reach. `0.0.0.0` listens on
   * every address of the machine: then every program of the network can use the emulator.
   */
  readonly host?: string;
  /**
   * The origin of the base URL, if clients reach the emulator under another address than host and port, for example through a tunnel
   * or from a container: `https://tunnel.example`. URLs in responses begin with it. Default: the host and the port.
   */
  readonly publicUrl?: string;
}

/** An emulator that listens on a port. `await using` closes it. */
export interface RunningEmulator extends Emulator, AsyncDisposable {
  /** Isolated worlds on the same port, for tests that run at the same time. */
  readonly worlds: ParallelWorlds;
  /** Closes every connection, stops listening, and sends no more callbacks. */
  close(): Promise<void>;
}

const bodiless: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);

const absolute = /^https?:\/\//i;

/** The path and query of a request target: a path, `*`, or a URL, whose host a server takes as its own (RFC 9112, 3.2). */
function pathOf(target: string): string {
  if (target.startsWith("/")) return target;
  const url = absolute.test(target) ? URL.parse(target) : null;
  return url === null ? `/${target}` : url.pathname + url.search;
}

function toRequest(incoming: IncomingMessage, origin: string, disconnected: AbortSignal): Request {
  const known = knownSignal(disconnected);
  const signal = known && { signal: known };
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const { method = "GET" } = incoming;
  const url = origin + pathOf(incoming.url ?? "/");
  if (method === "TRACE") return traceRequest(url, { headers, ...signal });
  if (bodiless.has(method)) return new Request(url, { method, headers, ...signal });
  // `from` reads a piece only on demand; `Readable.toWeb` reads ahead without a bound.
  return new Request(url, { method, headers, ...signal, body: ReadableStream.from(incoming), duplex: "half" });
}

async function write(response: Response, outgoing: ServerResponse): Promise<void> {
  const headers = [...response.headers].flat();
  if (response instanceof WholeResponse) {
    const { whole } = response;
    if (!response.headers.has("Content-Length")) headers.push("Content-Length", String(Buffer.byteLength(whole)));
    outgoing.writeHead(response.status, headers).end(whole);
    return;
  }
  outgoing.writeHead(response.status, headers);
  if (response.body === null) outgoing.end();
  // `fromWeb` cancels the body when the connection closes. To iterate it would wait for its next piece, which may never come.
  else await pipeline(Readable.fromWeb(response.body as NodeStream), outgoing);
}

const otherSite = () =>
  Response.json(
    {
      code: "other_site",
      message: "Only pages and programs under the address of the emulator can use the page and the controls",
    },
    { status: 403 },
  );

/** Passes a request to a fetch function and writes its response to the socket. */
async function respond(
  fetch: (request: Request) => Promise<Response>,
  origin: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  const disconnected = abortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) disconnected.abort();
  });
  try {
    await write(await fetch(toRequest(incoming, origin, disconnected.signal)), outgoing);
  } catch (error) {
    if (disconnected.signal.aborted || outgoing.headersSent) outgoing.destroy();
    else if (isBrokenConnection(error)) incoming.socket.resetAndDestroy();
    else outgoing.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
  }
}

/** Makes the function that serves one emulator: the API, its log, its page and its controls. */
function createFetch(parts: EmulatorParts, page: ReturnType<typeof createPage>, hosts: ReadonlySet<string>) {
  const { emulator, emulation } = parts;
  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/v2/")) return await emulator.fetch(request);
    if (!isSameSite(request.headers, hosts)) return otherSite();
    const read =
      request.method === "GET"
        ? (respondWithRequests(emulator.requests, url) ??
          respondWithCoverage(url) ??
          respondWithOpenapi(url, emulator.baseUrl))
        : undefined;
    const shown = read ?? page.respond(request);
    return shown ?? (await respondToControl(emulation, request)) ?? (await emulator.fetch(request));
  };
}

/** Closes the server when the emulator cannot be made, for example from an invalid seed: an open port keeps the process alive. */
function orClose<Made>(server: Server, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    server.close();
    throw error;
  }
}

/**
 * Starts an emulator of the service on a port, by default of 127.0.0.1.
 *
 * @throws `ConfigurationError` when an option is invalid or unknown, or names a public host without `allowRemote`; when the port is in
 * use or the address cannot be listened on, with the error of the system as its `cause`.
 * @example
 * await using emulator = await startEmulator();
 * const partner = new PodPartner(emulator.clientOptions);
 */
export async function startEmulator(all: StartEmulatorOptions = {}): Promise<RunningEmulator> {
  const { port: number = 0, host: name = "127.0.0.1", publicUrl, ...options } = readAddress(all);
  // Check the options first: invalid options must not leave a port open, which keeps the process alive.
  toSettings(options);
  const port = checkedPort(number);
  const host = checkedHost(name, options.allowRemote);
  const fixedOrigin = publicUrl === undefined ? undefined : publicOrigin(publicUrl, options.allowRemote);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, { port, host })));
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const origin = fixedOrigin ?? originOf(host, address.port);
  const hosts = loopbackHosts(address.port).add(new URL(origin).host);
  const make = (path: string, given: typeof options) => {
    const parts = createParts({ ...given, baseUrl: `${origin}${path}/v2` }, true);
    const page = createPage({ ...parts, nameOf: nameOfChange });
    const close = () => {
      parts.emulation.callbacks.close();
      parts.emulation.lifetime.end();
      page.close();
    };
    return { ...parts, fetch: createFetch(parts, page, hosts), close };
  };
  const main = orClose(server, () => make("", options));
  const worlds = createParallelWorlds((path, given) => make(path, { ...options, ...given }));
  main.emulation.parallel = worlds.controls;
  const fetch = async (request: Request) => (await worlds.respond(request)) ?? (await main.fetch(request));
  server.on("clientError", refuseMalformed);
  server.on("request", (incoming, outgoing) => void respond(fetch, origin, incoming, outgoing));

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    main.close();
    worlds.close();
    return closed;
  };
  return Object.assign(main.emulator, { worlds: worlds.controls, close, [Symbol.asyncDispose]: close });
}
