/** A process that sends the same GET over kept connections, and reports how long it takes. */
import { connect, type Socket } from "node:net";

/** The message from the parent process. */
export interface Job {
  readonly origin: string;
  readonly path: string;
  readonly secretKey: string;
  readonly requests: number;
  readonly connections: number;
}

const end = "\r\n\r\n";

/** The bytes of a response with a Content-Length or in chunks. Undefined while it is incomplete. */
function lengthOf(text: string): number | undefined {
  const head = text.indexOf(end);
  if (head === -1) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (length !== undefined) return head + end.length + Number(length);
  const last = text.indexOf(`\r\n0${end}`, head);
  return last === -1 ? undefined : last + 3 + end.length;
}

/** Sends one request after the other over one connection. A bare socket: the client must be faster than the service. */
function repeat(socket: Socket, message: string, requests: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    let left = requests;
    socket.setEncoding("latin1").setNoDelay(true);
    socket.once("error", reject);
    socket.on("data", (piece: string) => {
      text += piece;
      const length = lengthOf(text);
      if (length === undefined || text.length < length) return;
      if (!text.startsWith("HTTP/1.1 200")) return reject(new Error(text));
      text = "";
      left -= 1;
      if (left > 0) socket.write(message);
      else socket.end(resolve);
    });
    socket.write(message);
  });
}

process.on("message", async ({ origin, path, secretKey, requests, connections }: Job) => {
  const { hostname, port, host } = new URL(origin);
  const message = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Service-Secret-Key: ${secretKey}${end}`;
  const before = performance.now();
  const each = Math.ceil(requests / connections);
  const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => repeat(socket, message, each)));
  process.send?.(performance.now() - before);
});
process.once("disconnect", () => process.exit());
process.send?.("ready");
