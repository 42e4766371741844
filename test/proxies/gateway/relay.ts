import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../support/port.ts";

/** The wire between a gateway and a service. When it is cut, the gateway sees a killed service, and later a restarted one. */
export interface Relay {
  readonly port: number;
  /** Breaks every connection and accepts no more. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export async function startRelay(target: number): Promise<Relay> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    return socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    const service = keep(connect(target, "127.0.0.1"));
    keep(socket).pipe(service).pipe(socket);
    socket.once("close", () => service.destroy());
    service.once("close", (broken) => (broken ? socket.resetAndDestroy() : socket.end()));
  });
  const relay: Relay = {
    port,
    mend: async () => void (await once(server.listen(port, "127.0.0.1"), "listening")),
    cut: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
  await relay.mend();
  return relay;
}
