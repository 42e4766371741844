import type http from "node:http";
import type https from "node:https";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { ResolvedNodeOptions } from "./options.ts";

/**
 * The HTTP client of Node for a protocol. It is not imported: an import reads all exports of the module, and one of them loads the whole
 * `fetch` of Node. Its functions are read at each use, because instruments replace them.
 */
export const httpModule = (protocol: string): typeof http | typeof https =>
  process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");

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

type CreateSocket = (request: http.ClientRequest, options: object, done: (...result: unknown[]) => void) => void;
type CreateConnection = (options: object, done: (...result: unknown[]) => void) => Socket;

/**
 * Lets an agent emit `opening` at a request, with the connection to the proxy: Node gives the request a tunnel only when it is complete, TLS
 * included. Until then it would apply no time limit, and an abort would not stop it.
 */
function announceOpening(agent: http.Agent): http.Agent {
  const createSocket = Reflect.get(agent, "createSocket").bind(agent) as CreateSocket;
  const createConnection = Reflect.get(agent, "createConnection").bind(agent) as CreateConnection;
  let current: http.ClientRequest | undefined;
  return Object.assign(agent, {
    createSocket: ((request, options, done) => {
      current = request;
      try {
        createSocket(request, options, done);
      } finally {
        current = undefined;
      }
    }) satisfies CreateSocket,
    createConnection: ((options, done) => {
      // Without the timeout of unused connections, which Node would also apply to the response of the proxy.
      const socket = createConnection({ ...options, timeout: undefined }, done);
      const request = current;
      // A request that is being made has no listeners yet.
      process.nextTick(() => request?.emit("opening", socket));
      return socket;
    }) satisfies CreateConnection,
  });
}

/**
 * The connections of a transport. Only a GET goes out on a connection that was used before: the server can close such a connection at
 * any time, and a write that meets this would be in doubt.
 */
export class Connections {
  readonly options: ResolvedNodeOptions;
  /** The number of requests in flight. */
  inFlight = 0;
  readonly #agents = new Map<string, http.Agent>();
  #settling: Promise<void> = Promise.resolve();
  /** Whether responses that end in this turn of the event loop share a wait. */
  #gathering = false;
  #broke = false;

  constructor(options: ResolvedNodeOptions) {
    this.options = options;
  }

  /** The agent for a request: one that keeps its connections, or one that opens a connection for each request and closes it afterwards. */
  agentFor(protocol: string, method: string): http.Agent {
    const kept = method === "GET";
    const key = `${protocol} ${kept}`;
    const agent = this.#agents.get(key) ?? this.#make(protocol, kept);
    this.#agents.set(key, agent);
    return agent;
  }

  /** Waits until the ends of connections that arrived together with earlier responses are known. */
  settled(): Promise<void> {
    return this.#settling;
  }

  /** Records that a connection that was used before ended without a response. */
  broke(): void {
    this.#broke = true;
  }

  /**
   * Records that a response to a read has ended. Its connection is usable after a poll of the event loop: the second immediate is after one. A
   * single read waits for that only on a server that has not shown that it keeps its connections. With other requests in flight the next reads
   * always wait, and leave together: with 32 at a time, that saves a third of the CPU time of a call.
   */
  released(usedBefore: boolean): void {
    if (this.#gathering || (usedBefore && !this.#broke && this.inFlight <= 1)) return;
    this.#gathering = true;
    this.#settling = new Promise((resolve) => {
      setImmediate(() => {
        this.#gathering = false;
        setImmediate(resolve);
      });
    });
  }

  #make(protocol: string, kept: boolean): http.Agent {
    const { maxSockets, ca, proxyEnv } = this.options;
    const options = {
      maxSockets,
      ...(proxyEnv !== undefined && { proxyEnv }),
      ...(ca !== undefined && protocol === "https:" && { ca }),
    };
    const { Agent } = httpModule(protocol);
    const agent = kept
      ? closeOnStrayBytes(new Agent({ ...options, keepAlive: true, timeout: idleTimeout }))
      : new Agent(options);
    return proxyEnv === undefined ? agent : announceOpening(agent);
  }
}
