import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A server on a free port, which ends with all its connections. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly origin: string;
  readonly sockets: ReadonlySet<Socket>;
}

/** Lets a server listen on 127.0.0.1. */
export async function listen(server: Server | HttpServer, protocol = "http"): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `${protocol}://127.0.0.1:${port}`,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A server that gets the bytes of each request and writes what it likes. */
export const listenRaw = (onData: (socket: Socket, data: Buffer) => void): Promise<Listening> =>
  listen(createServer((socket) => void socket.on("data", (data) => onData(socket, data))));

/** The text of a response with a JSON body. */
export function responseText(body: unknown, ...headers: readonly string[]): string {
  const text = JSON.stringify(body);
  const lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`];
  return `${[...lines, ...headers].join("\r\n")}\r\n\r\n${text}`;
}

export const valid = responseText({ message: "The key is valid" });
