import { Download, notModified } from "../../binary/download.ts";
import { watched } from "../../binary/streams.ts";
import type { OpenStorage } from "../../storage/client-storage.ts";
import { abortController, onAbort } from "../../util/abort-signals.ts";
import { dateOf, type PartnerClock } from "../../util/clock.ts";
import { nameByHash } from "../../util/digest.ts";
import type { HeaderFields, ResponseHead } from "../../util/response-head.ts";
import type { Call } from "../call.ts";
import { downloaded } from "../download-body.ts";
import { Attempt } from "../exchange.ts";
import type { EncodedRequest } from "../request.ts";
import { isConditional } from "../request-options.ts";
import type { Arrival } from "../response.ts";
import type { Body } from "../transport.ts";
import { FileStore, type StoredFile } from "./file-store.ts";
import { type Asked, askedBy, type Fields, FilePolicy } from "./policy.ts";

/** How the files of a client are cached. */
export interface FileCacheOptions {
  /**
   * The maximum of the files' bytes. The least recently used files go first. Each process can exceed it by a tenth.
   * Default 1 073 741 824 (1 GiB); in a `memoryStorage` 33 554 432 (32 MiB).
   */
  readonly maxSize?: number | undefined;
}

/** Bytes, when the option does not say. A memory storage has 64 MiB for everything that the client remembers. */
const defaultSize = (kind: string): number => (kind === "memory" ? 32 : 1_024) * 1024 * 1024;

/** Sends a request with the retries of its call. */
type SendForFile = (request: EncodedRequest) => Promise<Arrival>;

/** The files that a client has downloaded, by the rules of RFC 9111 for a private cache. */
export class FileCache {
  readonly #openStorage: OpenStorage;
  readonly #maxSize: number | undefined;
  readonly #clock: PartnerClock;
  #store: Promise<FileStore> | undefined;

  constructor(openStorage: OpenStorage, { maxSize }: FileCacheOptions, clock: PartnerClock) {
    this.#openStorage = openStorage;
    this.#maxSize = maxSize;
    this.#clock = clock;
  }

  /** Gets a file from the storage, or with a request, and then stores it. */
  async get(call: Call, request: EncodedRequest, send: SendForFile): Promise<Arrival> {
    if (!isPlain(request.headers)) return send(request);
    const { file, stored, isFresh } = await call.step("cache", async (trace) => {
      this.#store ??= this.#open();
      const [store, id, asked] = await call.within(
        Promise.all([this.#store, nameByHash(request.url), askedBy(request.headers)]),
      );
      const stored = await call.within(store.read(id));
      const isFresh = stored?.policy.isFresh(asked) === true;
      trace.outcome = isFresh ? "fresh" : stored === undefined ? "absent" : "stale";
      return { file: { call, request, send, store, id, asked, now: () => dateOf(this.#clock) }, stored, isFresh };
    });
    if (stored === undefined) return download(file);
    return isFresh ? serve(file, stored) : revalidate(file, stored);
  }

  async #open(): Promise<FileStore> {
    const storage = await this.#openStorage();
    return new FileStore(storage, this.#maxSize ?? defaultSize(storage.kind), this.#clock);
  }
}

/** A file that a call wants. */
interface WantedFile {
  readonly call: Call;
  readonly request: EncodedRequest;
  readonly send: SendForFile;
  readonly store: FileStore;
  /** The name of the file in the storage. */
  readonly id: string;
  readonly asked: Asked;
  readonly now: () => number;
}

/** Requests a file, and stores it if the response may be stored. */
const download = async (file: WantedFile, request = file.request): Promise<Arrival> =>
  recorded(file, await file.send(request));

/** Stores the file of a response while the caller reads it. */
function recorded({ call, store, id, asked, now }: WantedFile, arrival: Arrival): Arrival {
  const { response, download } = arrival;
  const { headers, status } = response;
  if (download?.modified !== true || status !== 200 || headers.has("content-encoding")) return arrival;
  const policy = FilePolicy.of(asked, headers, now);
  if (!policy.storable() || (download.size ?? 0) > store.maxSize) return arrival;
  const patience = Math.min(call.timeout, call.scope.remaining()) / 4;
  const body = watched(download.stream(), store.record(id, policy, download.size, patience));
  return { ...arrival, download: new Download(headers, body, { endpoint: call.name, clock: call.core.clock }) };
}

/** Asks the service whether a stored file is still valid. */
async function revalidate(file: WantedFile, stored: StoredFile): Promise<Arrival> {
  const { call, request, send, store, asked, now } = file;
  const conditions = stored.policy.conditions(asked, request.headers);
  if (conditions === undefined) return download(file);
  const arrival = await send({ ...request, headers: { ...request.headers, ...conditions } });
  if (arrival.download?.modified !== false) return recorded(file, arrival);

  const alone = !isConditional(request.headers);
  const policy = stored.policy.refreshed(asked, arrival.response.headers, alone, now);
  if (policy?.storable()) {
    await call.within(store.use(stored, policy));
    return serve(file, { ...stored, policy });
  }
  await call.within(store.drop(stored));
  // Without a policy, the 304 is about the caller's own copy, or about a version that neither side has.
  if (policy === undefined) return alone ? download(file) : arrival;
  // The file may not be stored any more. Only its first piece was read before.
  return stored.first.byteLength < stored.head.size ? download(file) : serve(file, { ...stored, policy });
}

/** Responds with a stored file, or with 304 if the caller's copy is that file. */
function serve(file: WantedFile, stored: StoredFile): Arrival {
  const { call, request, store } = file;
  const fields = headersOf(stored);
  if (hasCurrentCopy(request.headers, fields)) {
    const { "content-length": _, ...headers } = fields;
    const response = headOf(304, request.url, headers);
    return { response, text: "", download: notModified(response.headers) };
  }
  void store.use(stored);
  const response = headOf(200, request.url, fields);
  const body = bodyOf(file, stored);
  const attempt = new Attempt(call, call.timeout, () => undefined);
  attempt.open(body);
  return downloaded(call, attempt, body, response, true);
}

function bodyOf(file: WantedFile, stored: StoredFile): Body {
  const closed = abortController();
  const bytes = bytesOf(file, stored, closed.signal);
  return { next: async () => (await bytes.next()).value ?? undefined, close: () => closed.abort() };
}

/**
 * Gives the bytes of a stored file. When a piece is missing or damaged, the rest comes from the service: the file is downloaded again, and
 * the bytes that were given are skipped.
 */
async function* bytesOf(file: WantedFile, stored: StoredFile, closed: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const { size } = stored.head;
  let given = 0;
  for await (const piece of file.store.pieces(stored)) {
    given += piece.byteLength;
    yield piece;
  }
  if (given === size) return;
  await file.store.drop(stored);
  // The request ends with the download: at its end, at its timeout, and when the caller cancels it.
  onAbort(closed, () => file.call.scope.end(new Error("the download was closed")));
  let received = 0;
  for await (const chunk of (await downloadSame(file, stored)).stream()) {
    received += chunk.byteLength;
    // A body of another length is of another version, also with the same `ETag`.
    if (received > size) throw new Error(lost);
    if (received <= given) continue;
    yield chunk.subarray(chunk.byteLength - (received - given));
    given = received;
  }
  if (given < size) throw new Error(lost);
}

/** Downloads the version of a file of which a part was lost: only that can continue it. */
async function downloadSame(file: WantedFile, stored: StoredFile): Promise<Download> {
  const { request } = file;
  const arrival = await download(file, { ...request, headers: unconditional(request.headers) });
  if (arrival.download?.modified !== true) throw new Error(lost);
  if (isSameVersion(headersOf(stored), arrival.response.headers)) return arrival.download;
  await arrival.download.cancel();
  throw new Error(lost);
}

const lost = "a part of the cached file was lost, and the service may have another version now; download it again";

/** The headers of a stored file, with its true length. */
const headersOf = ({ policy, head }: StoredFile): Fields => ({
  ...policy.headers(),
  "content-length": String(head.size),
});

function headOf(status: 200 | 304, url: string, fields: Fields): ResponseHead {
  const headers = new Headers(fields);
  return {
    status,
    ok: status === 200,
    url,
    headers,
    toResponse: () => Object.defineProperty(new Response(null, { status, headers }), "url", { value: url }),
  };
}

const tagsOf = (list: string): readonly string[] => list.match(/"[^"]*"/g) ?? [];

/**
 * Whether the caller's copy is the stored version (RFC 9110, 13.1; RFC 9111, 4.3.2). `If-None-Match` takes precedence, and compares weakly.
 *
 * @param given The headers of the request.
 * @param stored The headers of the stored response.
 */
function hasCurrentCopy(given: Fields, { etag, "last-modified": modified, date }: Fields): boolean {
  const { "if-none-match": tags, "if-modified-since": since } = given;
  if (tags !== undefined) {
    return tags.trim() === "*" || (etag !== undefined && tagsOf(tags).some((tag) => tagsOf(etag).includes(tag)));
  }
  return since !== undefined && Date.parse(modified ?? date ?? "") <= Date.parse(since);
}

/** The headers of a request without its conditions. */
function unconditional(headers: Fields): Fields {
  const { "if-none-match": _, "if-modified-since": __, ...rest } = headers;
  return rest;
}

/** Whether the cache understands a request: it knows no parts of a file, and no conditions of changes. */
const isPlain = (headers: Fields): boolean =>
  !["range", "if-match", "if-unmodified-since"].some((name) => name in headers);

const isImmutable = (control: string | null | undefined): boolean => /\bimmutable\b/i.test(control ?? "");

/**
 * Whether a response has the bytes of the stored one, if it is equally long: by its strong `ETag`, or without one because both are
 * `immutable`, as the files of renders are (specification 4.6).
 */
function isSameVersion(stored: Fields, fresh: HeaderFields): boolean {
  const { etag = null } = stored;
  if (etag !== fresh.get("etag")) return false;
  if (etag !== null) return !etag.startsWith("W/");
  return isImmutable(stored["cache-control"]) && isImmutable(fresh.get("cache-control"));
}
