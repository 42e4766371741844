import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Emulator } from "pod-partner/testing";

/** A port before an emulator. */
export interface StaleFront extends AsyncDisposable {
  readonly baseUrl: string;
  /** The bodies of all POST requests to a path, in order. */
  posts(path: string): readonly string[];
}

/**
 * Answers the first request of each connection. What comes over a connection that has been used before is carried out, and then the
 * connection breaks without an answer: as when a load balancer gives up an idle connection at the moment a request goes out on it.
 */
export async function startStaleFront(emulator: Emulator): Promise<StaleFront> {
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
    const answer = await emulator.fetch(`http://service.test${url}`, {
      method,
      headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": headers["content-type"] ?? "" },
      ...(method === "GET" ? {} : { body }),
    });
    if (isUsed) return void socket.destroy();
    outgoing.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
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
