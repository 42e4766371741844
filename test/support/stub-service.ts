import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A response of the stub. An object or array is sent as JSON, a string or bytes unchanged. */
export interface StubResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request exactly as it was received. */
export interface Recorded {
  readonly method: string;
  /** Path and query, not decoded. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborts when the client disconnects before the response is written. */
  readonly gone: AbortSignal;
}

type Script = StubResponse | ((request: Recorded) => StubResponse | Promise<StubResponse>);

/** A real HTTP server on 127.0.0.1 without any code of the SDK: it sends the given responses and records the requests. */
export interface StubService extends AsyncDisposable {
  readonly origin: string;
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  readonly requests: readonly Recorded[];
  /** The responses to the next requests, one each. A request without one gets a 500 `unscripted`. */
  respond(...scripts: readonly Script[]): void;
  /** The response to every further request that has no response of its own. */
  respondAlways(script: Script): void;
  reset(): void;
  close(): Promise<void>;
}

const unscripted: StubResponse = {
  status: 500,
  body: { code: "unscripted", message: "The test has no response for this request." },
};

function write(response: ServerResponse, { status = 200, headers = {}, body }: StubResponse): void {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const payload = body === undefined ? undefined : raw ? body : JSON.stringify(body);
  const type = body === undefined || raw ? {} : { "content-type": "application/json" };
  const length = payload === undefined ? {} : { "content-length": Buffer.byteLength(payload) };
  response.writeHead(status, { ...type, ...length, ...headers }).end(payload);
}

async function record(message: IncomingMessage, response: ServerResponse): Promise<Recorded> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const { method = "", url: path = "", headers } = message;
  return { method, path, headers, body: Buffer.concat(chunks), gone: gone.signal };
}

export async function startStubService(): Promise<StubService> {
  const requests: Recorded[] = [];
  let queue: Script[] = [];
  let fallback: Script = unscripted;

  // On a busy machine a connection may wait longer than the default of 5 s for its next request.
  const server = createServer({ keepAliveTimeout: 60_000 }, async (message, response) => {
    try {
      const request = await record(message, response);
      requests.push(request);
      const script = queue.shift() ?? fallback;
      write(response, typeof script === "function" ? await script(request) : script);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const close = () =>
    new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
      server.closeAllConnections();
    });

  return {
    origin,
    baseUrl: `${origin}/v2`,
    requests,
    respond: (...scripts) => void queue.push(...scripts),
    respondAlways: (script) => {
      fallback = script;
    },
    reset: () => {
      requests.length = 0;
      queue = [];
      fallback = unscripted;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
