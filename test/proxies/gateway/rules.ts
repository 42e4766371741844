/** What a gateway does to the requests and responses that pass it. Times are in milliseconds. */
export interface Rules {
  /** The port of 127.0.0.1 that it forwards requests to. */
  readonly upstream: number;
  /** TLS with a certificate, and HTTP/2 for clients that request it. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** How long it waits for the service before it responds with 504. Default 10 000. */
  readonly serviceTimeout?: number;
  /** How long it keeps an idle connection of a client. Default 60 000. */
  readonly idleTimeout?: number;
  /** Requests that a connection may carry; only nginx has such a limit. Default 1000. */
  readonly requestsPerConnection?: number;
  /** Sends `Connection: close` with each response. */
  readonly closes?: boolean;
  /** Requests a second; requests above that are refused with `refusal`. */
  readonly perSecond?: number;
  /** Requests above that limit that pass at once; only nginx has such a burst. Default 5. */
  readonly burst?: number;
  /** Default: the gateway's own. */
  readonly refusal?: number;
  /** The largest body in bytes; only nginx has such a limit. */
  readonly largestBody?: number;
}

/** A gateway's program, and how it gets its rules. */
export interface Program {
  readonly command: string;
  readonly args: (configuration: string) => readonly string[];
  /** Its address, and a `folder` in which it may write. */
  readonly configure: (rules: Rules, port: number, folder: string) => string;
  /** Reloads the configuration: new requests go to new processes, old processes end with their requests. */
  readonly reload: NodeJS.Signals;
}
