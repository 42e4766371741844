import { PodPartnerError } from "./base.ts";

/** The reason for a port without TLS, instead of OpenSSL's message. */
export const withoutTls = "the server does not speak TLS";

/** Hints for a failed connection, by words in its reason. */
const unreachable: readonly (readonly [reason: RegExp, hint: string])[] = [
  [
    /\bemulator\.test\b/,
    "The option `fetch` is missing: `emulator.test` is not a real host. Pass `fetch: emulator.fetch` to the client, or use `startEmulator()`.",
  ],
  [
    new RegExp(withoutTls),
    "Check the port. A service without TLS, such as an emulator, has a base URL that begins with http:",
  ],
  [/\bENOTFOUND\b|\bEAI_/, "Check the host name in `baseUrl` and the DNS settings of this machine."],
  [/\bERR_PROXY_TUNNEL\b|^Proxy response/, "Check the address and the credentials of the proxy."],
  [
    /\b(\w+_)?(CERT|SELF_SIGNED|UNABLE_TO)_\w+/,
    "Check the certificate of `baseUrl`. Name an authority of your own in NODE_EXTRA_CA_CERTS or in the option `ca` of nodeTransport.",
  ],
  [
    /\binvalid on\w+ method\b/,
    'The dispatcher is of another undici than `fetch`. Use the `fetch` of the same undici: `import { fetch, ProxyAgent } from "undici"`.',
  ],
  [/\bbad port\b/, "`fetch` blocks this port. Use another port in `baseUrl`, or `nodeTransport()`."],
  [/\bECONNREFUSED\b/, "Check the host and port of `baseUrl`, and of the proxy if there is one."],
];

/**
 * The connection failed before a complete response arrived. `sent` says whether the service may have received the request.
 */
export class ConnectionError extends PodPartnerError {
  static override readonly kind: string = "ConnectionError";
  readonly isRetryable: boolean = true;
  declare readonly hint: string | undefined;
  /** False if the request certainly was not sent; true if the service may have carried it out. */
  readonly sent: boolean;

  constructor({ endpoint, reason, sent, cause }: { endpoint: string; reason: string; sent: boolean; cause?: unknown }) {
    const hint = sent ? undefined : unreachable.find(([words]) => words.test(reason))?.[1];
    const unsent = sent ? "" : " The request was not sent.";
    super(`No response from ${endpoint}: ${reason}.${unsent}${hint ? `\n  ${hint}` : ""}`, { cause });
    this.sent = sent;
    if (hint !== undefined) this.hint = hint;
  }

  override toJSON() {
    return { ...super.toJSON(), sent: this.sent };
  }
}

/** The details of a timeout: of the response or, with `opening`, of an upload's source. Without `timeout`, `fetch` itself stopped waiting. */
interface TimedOut {
  readonly endpoint: string;
  readonly timeout?: number;
  readonly opening?: boolean;
  readonly cause?: unknown;
}

/**
 * One attempt took longer than `timeout` milliseconds, including the response body, or longer than the 300 seconds that Node's `fetch` waits. Also
 * thrown if the source of an upload takes longer than `timeout` to open; then nothing was sent.
 */
export class RequestTimeoutError extends PodPartnerError {
  static override readonly kind: string = "RequestTimeoutError";
  override readonly isTimeout: boolean = true;
  readonly isRetryable: boolean = true;
  declare readonly hint: string | undefined;

  constructor({ endpoint, timeout, opening, cause }: TimedOut) {
    const within = `within ${timeout} ms (option \`timeout\`)`;
    const incomplete = `${endpoint} did not return a complete response`;
    if (timeout === undefined) {
      const hint = "Pass `transport: nodeTransport()` of pod-partner/node: only `timeout` limits its waits.";
      super(`${incomplete}: Node's \`fetch\` waits at most 300 s for it, whatever \`timeout\` says.\n  ${hint}`, {
        cause,
      });
      this.hint = hint;
    } else if (opening) {
      super(`The source of the upload to ${endpoint} was not ready ${within}. Nothing was sent.`);
    } else {
      super(`${incomplete} ${within}.`);
    }
  }
}

/** The whole call took longer than its `deadline` milliseconds, including queueing and waits, or certainly would have. */
export class DeadlineError extends PodPartnerError {
  static override readonly kind: string = "DeadlineError";
  override readonly isTimeout: boolean = true;
  readonly isRetryable: boolean = true;
  override readonly hint: string = "Repeat the call, or raise its `deadline`: the timeline shows where the time went.";

  constructor({ message, cause }: { message: string; cause?: unknown }) {
    super(message, { cause });
  }
}
