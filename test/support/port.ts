import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A port of 127.0.0.1 without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system assigned no port.");
  return address.port;
}

/** Waits until something listens. It retries a refused connection until `signal` aborts. */
export async function listening(port: number, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const socket = connect(port, "127.0.0.1");
    const up = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (up) return;
  }
}
