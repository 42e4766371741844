import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { selfSigned } from "./self-signed.ts";

const json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/** What happens to a complete request, by the first part of its path. */
const faults: Readonly<Record<string, (socket: Socket) => void>> = {
  reset: (socket) => socket.resetAndDestroy(),
  closed: (socket) => socket.destroy(),
  "half-head": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Ty"),
  garbage: (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n\r\n"),
  "half-body": (socket) => socket.end(`${json}Content-Length: 100\r\n\r\n{"organiz`),
  "half-chunked": (socket) => socket.end(`${json}Transfer-Encoding: chunked\r\n\r\n9\r\n{"organiz\r\n`),
  redirect: (socket) => socket.end("HTTP/1.1 307 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
};

const isTlsHello = (first: Buffer) => first[0] === 0x16;

/** Where the first request in these bytes ends; -1 when it is not complete. */
function endOfRequest(received: Buffer): number {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return -1;
  const text = received.toString("latin1", 0, head).toLowerCase();
  const length = Number(/^content-length: (\d+)/m.exec(text)?.[1] ?? 0);
  if (!text.includes("transfer-encoding: chunked"))
    return received.length >= head + 4 + length ? head + 4 + length : -1;
  const last = received.indexOf("0\r\n\r\n", head + 4);
  return last < 0 ? -1 : last + 5;
}

/** A service that receives each request completely, counts it, and then breaks. */
export interface BrokenService extends AsyncDisposable {
  /** Base URLs by the name of their fault. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** How many complete requests of a method a base URL has received. */
  received(name: string, method: string): number;
}

export async function startBrokenService(): Promise<BrokenService> {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const servers: Server[] = [];

  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    server.on("connection", (socket) => sockets.add(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };

  const serve = (socket: Socket, strike?: () => void) => {
    let received = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      // An HTTP server responds like this to a TLS client.
      if (isTlsHello(chunk)) return void socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      received = Buffer.concat([received, chunk]);
      if (endOfRequest(received) < 0) return;
      const [method, path = ""] = received.toString("latin1", 0, received.indexOf("\r\n")).split(" ");
      const name = strike === undefined ? (path.split("/")[1] ?? "") : "tls-broken";
      counts.set(`${method} ${name}`, (counts.get(`${method} ${name}`) ?? 0) + 1);
      (strike ?? (() => faults[name]?.(socket)))();
    });
  };

  const plain = await listen(createServer((socket) => serve(socket)));
  const closesAtHello = await listen(createServer((socket) => void socket.once("data", () => socket.destroy())));
  const tls = await listen(createTlsServer(selfSigned, (socket: TLSSocket) => serve(socket)));
  const tlsBroken = await listen(brokenTls(serve));
  const refused = createServer();
  const refusedPort = await listen(refused);
  await new Promise((resolve) => refused.close(resolve));

  const close = async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
  return {
    baseUrls: {
      refused: `http://127.0.0.1:${refusedPort}/v2`,
      unresolvable: "http://nothing.invalid/v2",
      "self-signed": `https://127.0.0.1:${tls}/v2`,
      "TLS to a plain port": `https://127.0.0.1:${plain}/v2`,
      "closed at TLS hello": `https://127.0.0.1:${closesAtHello}/v2`,
      "tls-broken": `https://127.0.0.1:${tlsBroken}/v2`,
      ...Object.fromEntries(Object.keys(faults).map((name) => [name, `http://127.0.0.1:${plain}/${name}/v2`])),
    },
    received: (name, method) => counts.get(`${method} ${name}`) ?? 0,
    [Symbol.asyncDispose]: close,
  };
}

/** A TLS connection that breaks after the request, with bytes that are not TLS. */
function brokenTls(serve: (socket: Socket, strike: () => void) => void): Server {
  return createServer((outer) => {
    const inner = createTlsServer(selfSigned, (socket) =>
      serve(socket, () => outer.write("HTTP/1.1 400 Bad Request\r\n\r\n".repeat(20))),
    );
    inner
      .on("tlsClientError", () => undefined)
      .listen(0, "127.0.0.1", () => {
        const bridge = connect((inner.address() as AddressInfo).port, "127.0.0.1", () => inner.close());
        bridge.on("error", () => undefined).on("data", (data) => void outer.write(data));
        outer.pipe(bridge);
      });
  });
}
