/** What stands before a service, and what it does to what passes. Times are in milliseconds. */
export interface Rules {
  /** The port of 127.0.0.1 that it passes requests on to. */
  readonly upstream: number;
  /** TLS with a certificate, and HTTP/2 for who asks for it. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** How long it waits for the service before it answers 504. Default 10 000. */
  readonly serviceTimeout?: number;
  /** How long it keeps a connection of a client that is idle. Default 60 000. */
  readonly idleTimeout?: number;
  /** Requests that a connection may carry; only nginx has such a limit. Default 1000. */
  readonly requestsPerConnection?: number;
  /** Answers each request with `Connection: close`. */
  readonly closes?: boolean;
  /** Requests a second; what is above that is refused with `refusal`. */
  readonly perSecond?: number;
  /** Requests above that limit that pass at once; only nginx has such a burst. Default 5. */
  readonly burst?: number;
  /** Default: the gateway's own. */
  readonly refusal?: number;
  /** Bytes of a body that may come; only nginx has such a limit. */
  readonly largestBody?: number;
}

/** A gateway's program, and how it is told its rules. */
export interface Program {
  readonly command: string;
  readonly args: (configuration: string) => readonly string[];
  /** Where it listens, below `folder` it may write. */
  readonly configure: (rules: Rules, port: number, folder: string) => string;
  /** Has it read its configuration again: new requests go to new processes, old ones end with what they have. */
  readonly reload: NodeJS.Signals;
}
