import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the receiver got. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What the receiver responds with: a status, with headers, or nothing at all, or a broken connection. */
export type Reply = number | { readonly status: number; readonly headers: Record<string, string> } | "silence" | "drop";

/** A partner's server on loopback. It responds to the callbacks in turn with the replies, then with 204. */
export async function startReceiver(...replies: Reply[]) {
  const received: Received[] = [];
  const arrivals: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const reply = replies.shift() ?? 204;
    const url = new URL(request.url ?? "/", "http://receiver.test");
    let body = "";
    for await (const piece of request) body += piece;
    const query = Object.fromEntries(url.searchParams);
    received.push({ method: request.method, path: request.url ?? "", query, headers: request.headers, body });
    for (const arrive of arrivals.splice(0)) arrive();
    if (reply === "drop") request.socket.destroy();
    else if (typeof reply === "number") response.writeHead(reply).end();
    else if (reply !== "silence") response.writeHead(reply.status, reply.headers).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}/callback`,
    received,
    /** The order references of the callbacks, in the order of their arrival. */
    orders: () => received.map(({ query }) => query.order_reference_v2),
    /** Resolves at the next callback. */
    arrival: () => new Promise<void>((resolve) => void arrivals.push(resolve)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
