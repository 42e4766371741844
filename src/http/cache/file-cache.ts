import { Download } from "../../binary/download.ts";
import { type BodyWatcher, watched } from "../../binary/streams.ts";
import type { ClientStorage, OpenStorage } from "../../storage/client-storage.ts";
import { nameByHash } from "../../util/digest.ts";
import type { HeaderFields, ResponseHead } from "../../util/response-head.ts";
import type { Call } from "../call.ts";
import { downloadStream } from "../download-body.ts";
import { Attempt } from "../exchange.ts";
import type { EncodedRequest } from "../request.ts";
import type { Arrival } from "../response.ts";
import type { Body } from "../transport.ts";
import { Recording, StoredBody } from "./bodies.ts";
import { Entries, type Entry, headersOf, piecesOf } from "./entry.ts";
import { type Asked, askedBy, type Fields, FilePolicy } from "./policy.ts";
import { SizeLimit } from "./size-limit.ts";

/** How the files of a client are cached. */
export interface FileCacheOptions {
  /**
   * The maximum of the files' bytes. The least recently used files go first. Each process can exceed it by a tenth for a moment.
   * Default 1 073 741 824 (1 GiB); in a `memoryStorage` 33 554 432 (32 MiB).
   */
  readonly maxSize?: number | undefined;
}

/** One download of a file through the cache. */
interface Getting extends FileSteps {
  readonly asked: Asked;
  readonly id: string;
  readonly opened: OpenedCache;
}

/** The client's part of the storage, with what the cache keeps in it. */
interface OpenedCache {
  readonly entries: Entries;
  readonly limit: SizeLimit;
  readonly maxSize: number;
}

/** Bytes, when the option does not say. A memory storage has 64 MiB for everything that the client remembers. */
const defaultSize = (kind: string): number => (kind === "memory" ? 32 : 1_024) * 1024 * 1024;

/** The files that a client has downloaded, by the rules of RFC 9111 for a private cache. */
export class FileCache {
  readonly #openStorage: OpenStorage;
  readonly #maxSize: number | undefined;
  readonly #now: () => number;
  #opened: Promise<OpenedCache> | undefined;

  constructor(openStorage: OpenStorage, { maxSize }: FileCacheOptions, now: () => number) {
    this.#openStorage = openStorage;
    this.#maxSize = maxSize;
    this.#now = now;
  }

  /** Gets a file from the storage, or with a request, and then stores it. */
  async get(call: Call, request: EncodedRequest, send: FileSteps["send"]): Promise<Arrival> {
    if (!isPlain(request.headers)) return send(request);
    const { opened, asked, id, entry, isFresh } = await call.step("cache", async (trace) => {
      this.#opened ??= this.#open();
      const [opened, asked, id] = await call.scope.within(
        Promise.all([this.#opened, askedBy(request.headers), nameByHash(request.url)]),
      );
      const entry = await call.scope.within(opened.entries.read(id));
      const isFresh = entry?.policy.isFresh(asked) === true;
      trace.outcome = isFresh ? "fresh" : entry === undefined ? "absent" : "stale";
      return { opened, asked, id, entry, isFresh };
    });
    const getting: Getting = { ...fileSteps(call, request, send), asked, id, opened };
    if (entry === undefined) return this.#download(getting);
    return isFresh ? this.#serve(getting, entry) : this.#revalidate(getting, entry);
  }

  async #open(): Promise<OpenedCache> {
    const storage: ClientStorage = await this.#openStorage();
    const maxSize = this.#maxSize ?? defaultSize(storage.kind);
    return { entries: new Entries(storage, this.#now), limit: new SizeLimit(storage, maxSize, this.#now), maxSize };
  }

  /** Requests the file, and stores it if the response may be stored. */
  async #download(getting: Getting, request = getting.request): Promise<Arrival> {
    return this.#recorded(getting, await getting.send(request));
  }

  #recorded({ call, asked, id, opened, record }: Getting, arrival: Arrival): Arrival {
    const { response, download } = arrival;
    if (download?.modified !== true || response.status !== 200 || response.headers.has("content-encoding"))
      return arrival;
    const policy = FilePolicy.of(asked, response.headers, this.#now);
    if (!policy.storable() || (download.size ?? 0) > opened.maxSize) return arrival;
    const recording = new Recording(opened.entries, {
      id,
      policy,
      size: download.size,
      maxSize: opened.maxSize,
      patience: Math.min(call.timeout, call.scope.remaining()) / 4,
      now: this.#now,
      onStored: (size) => opened.limit.add(size),
    });
    return { ...arrival, download: record(response, download, recording) };
  }

  /** Asks the service whether a stored file is still valid. */
  async #revalidate(getting: Getting, entry: Entry): Promise<Arrival> {
    const { call, request, asked, opened } = getting;
    const conditions = entry.policy.conditions(asked, request.headers);
    if (conditions === undefined) return this.#download(getting);
    const arrival = await getting.send({ ...request, headers: { ...request.headers, ...conditions } });
    if (arrival.download?.modified !== false) return this.#recorded(getting, arrival);

    const plain = unconditional(request.headers);
    const alone = Object.keys(plain).length === Object.keys(request.headers).length;
    const policy = entry.policy.refreshed(asked, arrival.response.headers, alone, this.#now);
    if (policy === undefined) {
      await call.scope.within(opened.entries.drop(entry));
      // The 304 is about the caller's own copy, or about a version that neither side has.
      return alone ? this.#download(getting) : arrival;
    }
    if (policy.storable()) await call.scope.within(opened.entries.refresh(entry, policy));
    else {
      await call.scope.within(opened.entries.drop(entry));
      // Only the first piece was read before.
      if (piecesOf(entry.head.size) > 1) return this.#download(getting);
    }
    return this.#serve(getting, { ...entry, policy });
  }

  /** Responds with a stored file, or with 304 if the caller's copy is that file. */
  #serve(getting: Getting, entry: Entry): Arrival {
    const { request, opened, open } = getting;
    const fields = headersOf(entry);
    if (hasCurrentCopy(request.headers, fields)) {
      const { "content-length": _, ...headers } = fields;
      const { etag, "last-modified": lastModified } = headers;
      const download = { modified: false, etag, lastModified } as const;
      return { response: headOf(304, request.url, headers), text: "", download };
    }
    void opened.entries.refresh(entry);
    const response = headOf(200, request.url, fields);
    const body = new StoredBody(opened.entries, entry, () => this.#again(getting, entry));
    return { response, text: "", download: open(response, body) };
  }

  /** Downloads a file of which a part was lost. Only the same version can continue it. */
  async #again(getting: Getting, entry: Entry): Promise<Download | undefined> {
    const { request } = getting;
    const { response, download } = await this.#download(getting, {
      ...request,
      headers: unconditional(request.headers),
    });
    if (download?.modified !== true) return undefined;
    if (isSameVersion(headersOf(entry), response.headers)) return download;
    await download.cancel();
    return undefined;
  }
}

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

/** What the cache of files needs of a call. */
export interface FileSteps {
  readonly call: Call;
  readonly request: EncodedRequest;
  /** Sends a request through the attempts of the call. */
  readonly send: (request: EncodedRequest) => Promise<Arrival>;
  /** Makes a download of the same file whose bytes a recording gets while the caller reads them. */
  readonly record: (response: ResponseHead, download: Download, recording: BodyWatcher) => Download;
  /** Makes a download of a stored body, with the timeout, the deadline and the signal of the call. */
  readonly open: (response: ResponseHead, body: Body) => Download;
}

/** The steps of a call for a file. */
function fileSteps(call: Call, request: EncodedRequest, send: FileSteps["send"]): FileSteps {
  const { core, scope, name: endpoint, timeout } = call;
  const of = { endpoint, clock: core.clock };
  return {
    call,
    request,
    send,
    record: ({ headers }, download, recording) => new Download(headers, watched(download.stream(), recording), of),
    open: (response, body) => {
      const attempt = new Attempt({ scope, request, endpoint, timeout, binary: false }, () => undefined);
      attempt.open(body);
      const onUnread = (error: string) =>
        core.observer.observe("onUnreadDownload", { callId: call.id, endpoint, error });
      const complete = (error: unknown) => call.complete(error);
      const options = { scope, endpoint, redact: core.redact, complete, onUnread };
      return new Download(response.headers, downloadStream(attempt, body, response, options), of, true);
    },
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
const unconditional = (headers: Fields): Fields =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^if-(none-match|modified-since)$/.test(name)));

/** Whether the cache understands a request: it knows no parts of a file, and no conditions of changes. */
const isPlain = (headers: Fields): boolean =>
  !["range", "if-range", "if-match", "if-unmodified-since"].some((name) => name in headers);

const isImmutable = (control: string | null | undefined): boolean => /(^|,)\s*immutable\s*(,|$)/i.test(control ?? "");

/**
 * Whether a response has the bytes of the stored one: by its strong `ETag`, or without one because both are `immutable` and equally long,
 * as the files of renders are (specification 4.6).
 */
function isSameVersion(stored: Fields, fresh: HeaderFields): boolean {
  const { etag = null } = stored;
  if (etag !== fresh.get("etag")) return false;
  if (etag !== null) return !etag.startsWith("W/");
  if (stored["content-length"] !== fresh.get("content-length")) return false;
  return isImmutable(stored["cache-control"]) && isImmutable(fresh.get("cache-control"));
}
