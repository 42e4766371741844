import type http from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { httpModule } from "./builtin.ts";
import type { ResolvedNodeOptions } from "./options.ts";

/** Milliseconds after which an unused connection is closed, as `fetch` does: servers and gateways keep one for at least 5 seconds. */
const idleTimeout = 4_000;

function closeItself(this: Socket): void {
  this.destroy();
}

/** Closes a pooled connection on which bytes arrive without a request: the next request would take them for its response. */
function closeOnStrayBytes(agent: http.Agent): http.Agent {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Socket) => unknown;
  const reuse = agent.reuseSocket.bind(agent) as (socket: Socket, request: http.ClientRequest) => void;
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket) {
      socket.on("data", closeItself);
      return keep(socket);
    },
    reuseSocket(socket: Socket, request: http.ClientRequest) {
      socket.off("data", closeItself);
      reuse(socket, request);
    },
  });
}

/** The agents of one protocol. */
interface Agents {
  /** Keeps its connections for later requests. */
  readonly shared: http.Agent;
  /** Opens a connection for each request, and closes it afterwards. */
  readonly single: http.Agent;
}

/**
 * The connections of a transport. Only a GET goes out on a connection that was used before: the server can close such a connection at
 * any time, and a write that meets this would be in doubt.
 */
export class Connections {
  readonly connectTimeout: number;
  /** The number of requests in flight. */
  inFlight = 0;
  readonly #options: ResolvedNodeOptions;
  readonly #agents = new Map<string, Agents>();
  /** Ends when the event loop has polled since the latest response. */
  #settling: Promise<void> | undefined;
  #gathering = false;
  /** Whether a connection that was used before ended without a response. */
  #broke = false;

  constructor(options: ResolvedNodeOptions) {
    this.#options = options;
    this.connectTimeout = options.connectTimeout;
  }

  /** The agent for a request. */
  agentFor(protocol: string, method: string): http.Agent {
    let agents = this.#agents.get(protocol);
    if (agents === undefined) {
      agents = this.#make(protocol);
      this.#agents.set(protocol, agents);
    }
    return method === "GET" ? agents.shared : agents.single;
  }

  /** Waits until the ends of connections that arrived together with earlier responses are known. */
  settled(): Promise<void> | undefined {
    return this.#settling;
  }

  /** Records that a connection that was used before ended without a response. */
  broke(): void {
    this.#broke = true;
  }

  /**
   * Records that a response to a read has ended. Its connection is usable after a poll of the event loop: the second immediate is after
   * one. With other requests in flight, the poll costs nothing: the reads that follow their responses leave together. A single read at a
   * time waits only on a server that may close connections together with their responses: it has not shown that it keeps them.
   */
  released(usedBefore: boolean): void {
    const kept = usedBefore && !this.#broke;
    if (this.#gathering || (kept && this.inFlight <= 1)) return;
    this.#gathering = true;
    const settling = new Promise<void>((resolve) => {
      setImmediate(() => {
        this.#gathering = false;
        setImmediate(() => {
          if (this.#settling === settling) this.#settling = undefined;
          resolve();
        });
      });
    });
    this.#settling = settling;
  }

  #make(protocol: string): Agents {
    const { maxSockets, ca, proxyEnv } = this.#options;
    const options = {
      maxSockets,
      ...(proxyEnv !== undefined && { proxyEnv }),
      ...(ca !== undefined && protocol === "https:" && { ca }),
    };
    const { Agent } = httpModule(protocol);
    return {
      shared: closeOnStrayBytes(new Agent({ ...options, keepAlive: true, timeout: idleTimeout })),
      single: new Agent(options),
    };
  }
}
