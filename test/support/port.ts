import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A port of 127.0.0.1 without a listener. The system assigns none of this range to other programs' connections and servers meanwhile. */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000);
  const server = createServer().listen(port, "127.0.0.1");
  const free = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (!free) return freePort();
  server.close();
  await once(server, "close");
  return port;
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
