import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Emulator } from "pod-partner/testing";

/** A port in front of an emulator. */
export interface StaleProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** The bodies of all POST requests to a path, in order. */
  posts(path: string): readonly string[];
}

/**
 * Responds to the first request of each connection. A request on a reused connection is processed, and then the connection breaks
 * without a response, as when a load balancer drops an idle connection at the moment of a new request.
 */
export async function startStaleProxy(emulator: Emulator): Promise<StaleProxy> {
  const used = new WeakSet<object>();
  const posts: { readonly path: string; readonly body: string }[] = [];

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = "GET", url = "/", headers, socket } = incoming;
    const isUsed = used.has(socket);
    used.add(socket);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (method === "POST") posts.push({ path: url, body: body.toString() });
    const response = await emulator.fetch(`http://service.test${url}`, {
      method,
      headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": headers["content-type"] ?? "" },
      ...(method === "GET" ? {} : { body }),
    });
    if (isUsed) return void socket.destroy();
    outgoing.writeHead(response.status, { "Content-Type": "application/json" }).end(await response.text());
  };

  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    posts: (path) => posts.filter((post) => post.path === path).map(({ body }) => body),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
