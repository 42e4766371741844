import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { getCallSites } from "node:util";
import { vi } from "vitest";

/** Counts what was opened since, and is still open. */
interface Watch extends Disposable {
  readonly open: number;
}

/**
 * Watches the timers of the package, its dependencies and the test. The timers of the platform and of the test runner are not
 * included, because they start and end at any time.
 */
export function watchTimers(): Watch {
  const { setTimeout, clearTimeout } = globalThis;
  const open = new Set<unknown>();
  vi.stubGlobal("setTimeout", (callback: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => {
    const [, caller] = getCallSites(2);
    if (caller?.scriptName.startsWith("node:")) return setTimeout(callback, ms, ...values);
    const timer = setTimeout(() => {
      open.delete(timer);
      callback(...values);
    }, ms);
    open.add(timer);
    return timer;
  });
  vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout | undefined) => {
    open.delete(timer);
    clearTimeout(timer);
  });
  return {
    get open() {
      return open.size;
    },
    [Symbol.dispose]: () => void vi.unstubAllGlobals(),
  };
}

interface SocketWatch extends Watch {
  /** The open sockets that have received a response: the platform opens others in advance for later requests. */
  readonly used: number;
}

/** Watches the outgoing connections of this process, and not the incoming ones. */
export function watchSockets(): SocketWatch {
  const sockets = new Set<Socket>();
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  subscribe("net.client.socket", onSocket);
  return {
    get open() {
      return sockets.size;
    },
    get used() {
      return [...sockets].filter(({ bytesRead }) => bytesRead > 0).length;
    },
    [Symbol.dispose]: () => void unsubscribe("net.client.socket", onSocket),
  };
}
