import type { Move } from "./case.ts";
import type { Model, ModelRequest, TrueResponse } from "./model.ts";
import { mutate } from "./mutate.ts";
import { oddResponse, unreachable } from "./odd-responses.ts";
import { secretKey } from "./secret.ts";
import { saysNeverSent, thrownValue } from "./thrown-values.ts";
import type { VirtualTime } from "./virtual-clock.ts";
import { WatchedBody } from "./watched-body.ts";

export const baseUrl = "https://hostile.example/v2";
/** The client's option `maxResponseSize`, in bytes. */
export const maxResponseSize = 100_000;

interface Delivered {
  readonly body: WatchedBody;
  /** Whether `maxResponseSize` holds for this body. */
  readonly bounded: boolean;
}

const withoutBody = new Set([204, 205, 304]);
const never = () => new Promise<never>(() => undefined);

/** Whether a move says that the service did not carry the request out. */
function refuses({ status = 200, rejects, throws }: Move): boolean {
  const refused = (status >= 300 && status < 500 && status !== 408) || status === 501;
  return refused || saysNeverSent(rejects) || saysNeverSent(throws);
}

/** Milliseconds until the service has carried a request out. */
const processing = (move: Move): number | "never" => (refuses(move) ? "never" : (move.carried ?? 0));

const textOf = ({ body, big }: Move): string | undefined => {
  if (big === "deep") return `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  if (big === "long") return JSON.stringify({ key: secretKey, long: "x".repeat(4 * maxResponseSize) });
  return body?.replaceAll("$KEY", secretKey);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Whether a false response to a look-up can pass for a true one. */
function deceives({ method, path }: ModelRequest, status: number, body: unknown): boolean {
  if (method !== "GET") return false;
  if (path.startsWith("/utilities/")) return status === 404 || (status < 300 && typeof body === "object");
  if (/^\/(orders|addresses)\/./.test(path)) return status === 404 || (status < 300 && typeof body === "object");
  const field = path === "/claims" ? "claims" : "claim";
  return path.startsWith("/claims") && status < 300 && Object.hasOwn(Object(body), field);
}

async function read(request: Request): Promise<ModelRequest> {
  const { pathname, searchParams } = new URL(request.url);
  const asked = { method: request.method, path: pathname.replace(/^\/v2/, ""), query: searchParams };
  const binary = request.headers.get("content-type") === "application/octet-stream";
  return { ...asked, body: binary ? String((await request.arrayBuffer()).byteLength) : await request.text() };
}

const abortOf = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

/** A `fetch` that plays one move for each request, in front of a model of the service. */
export class HostileFetch {
  /** The number of requests so far. */
  requests = 0;
  readonly bodies: Delivered[] = [];
  /** Whether a response was false in a way that no client can detect: it hid what exists, or changed it plausibly. */
  deceived = false;
  readonly #moves: readonly Move[];
  readonly #model: Model;
  readonly #time: VirtualTime;
  /** Milliseconds that the service's clock is ahead of the client's. */
  readonly #skew: number;

  constructor(moves: readonly Move[], model: Model, time: VirtualTime, skew: number) {
    this.#moves = moves;
    this.#model = model;
    this.#time = time;
    this.#skew = skew;
  }

  readonly fetch = (request: Request, init?: RequestInit): Promise<Response> => {
    const move = this.#moves[this.requests] ?? {};
    this.requests += 1;
    const asked = read(request);
    const carried = asked.then((what) => {
      if (move.meanwhile !== undefined) this.#model.happen(what, move.meanwhile);
      return this.#carryOut(move, what);
    });
    for (const promise of [asked, carried]) promise.catch(() => undefined);
    if (move.throws !== undefined) throw thrownValue(move.throws);
    const signal = move.deaf ? undefined : (init?.signal ?? undefined);
    const response = this.#respond(move, asked, carried, signal);
    return (signal === undefined ? response : Promise.race([response, abortOf(signal)])) as Promise<Response>;
  };

  async #carryOut(move: Move, asked: ModelRequest): Promise<TrueResponse> {
    const ms = processing(move);
    if (ms === "never") return never();
    if (ms > 0) await this.#sleep(ms);
    return this.#model.serve(asked);
  }

  async #respond(
    move: Move,
    asked: Promise<ModelRequest>,
    carried: Promise<TrueResponse>,
    signal: AbortSignal | undefined,
  ) {
    const { head = 0, rejects, status } = move;
    let honest: TrueResponse | undefined;
    const done = carried.then((value) => {
      honest = value;
    });
    if (head === "never") return never();
    const what = await asked;
    if (head > 0) await this.#sleep(head);
    if (rejects !== undefined) throw thrownValue(rejects);
    const ms = processing(move);
    // An honest response does not arrive before the service has finished.
    if (status === undefined || (ms !== "never" && ms <= head)) await done;
    // The client has aborted the request: nothing is delivered.
    if (signal?.aborted) throw signal.reason;
    const make = this.#responseOf(move, what, honest, signal);
    return move.returns === undefined ? make() : oddResponse(move.returns, make);
  }

  #responseOf(move: Move, asked: ModelRequest, honest: TrueResponse | undefined, signal: AbortSignal | undefined) {
    const { pieces, returns } = move;
    const status = move.status ?? honest?.status ?? 200;
    const date = new Date(this.#time.now() + this.#skew).toUTCString();
    const headers = new Headers({ ...honest?.headers, date });
    for (const [name] of move.headers ?? []) headers.delete(name);
    for (const [name, value] of move.headers ?? []) headers.append(name, value.replaceAll("$KEY", secretKey));
    const content = this.#contentOf(move, asked, honest, status);
    return (other?: ReadableStream | null): Response => {
      if (withoutBody.has(status)) return new Response(null, { status, headers });
      if (other !== undefined || content.length === 0) return new Response(other ?? null, { status, headers });
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const body = new WatchedBody(bytes, pieces, this.#time.world, signal);
      const bounded = !asked.path.endsWith("/media");
      if (!unreachable.has(returns)) this.bodies.push({ body, bounded });
      return new Response(body.stream, { status, headers });
    };
  }

  #contentOf(move: Move, asked: ModelRequest, honest: TrueResponse | undefined, status: number): string | Uint8Array {
    const text = textOf(move);
    // No client can tell a body that is cut off before its first byte from an empty one.
    if (move.pieces?.after === 0 && move.pieces.end === "close") this.deceived ||= deceives(asked, status, null);
    if (text !== undefined) {
      // A look-up without a body says that it has found nothing.
      this.deceived ||= move.big === undefined && deceives(asked, status, text === "" ? null : parsed(text));
      return text;
    }
    // A look-up that was not carried out, and succeeds without a body, says that it has found nothing.
    if (honest === undefined) this.deceived ||= deceives(asked, status, null);
    if (honest === undefined || honest.body === undefined) return "";
    if (honest.body instanceof Uint8Array) return honest.body;
    if (move.mutate === undefined) {
      this.deceived ||= status !== honest.status && deceives(asked, status, honest.body);
      return JSON.stringify(honest.body);
    }
    const { body, plausible } = mutate(honest.body, move.mutate);
    this.deceived ||= (plausible || status === 404) && deceives(asked, status, body);
    return JSON.stringify(body) ?? "";
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#time.world.after(ms, resolve));
  }
}
