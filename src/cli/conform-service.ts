import { existsSync, readFileSync, rmSync } from "node:fs";
import { deflateSync } from "node:zlib";
import type { ApiCall, Assumptions, FetchLike, PartnerClock, PodPartner, PodPartnerOptions } from "pod-partner";
import { isRecord } from "../util/foreign.ts";
import { Failure } from "./arguments.ts";
import type { Sdk } from "./connection.ts";
import { checkFile, writeFile } from "./output-file.ts";

/** How to reach the service. */
export interface Target {
  readonly sdk: Sdk;
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly fetch?: FetchLike;
  readonly clock: PartnerClock;
  /** The file with the orders of a run, so that the next run can cancel them. */
  readonly journal: string;
}

/** What the service responded. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the body; undefined for an empty body and for a file. */
  readonly body: unknown;
}

/** The response was lost: the row is measured again. */
export class LostAnswer extends Error {}

/** Why a row cannot be measured. */
export class Untried extends Error {}

/** The run is to end. */
export class Stopped extends Error {}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

export const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** The code of an error object, wherever it is. */
export function codeOf({ body }: Answer): string {
  const records = isRecord(body) ? [body, ...Object.values(body)] : [];
  const code = records.map((record) => at(record, "code")).find((value) => typeof value === "string");
  return String(code ?? "no code");
}

/** An answer in words: `refused (409 custom_identifier_taken)`. */
export const inWords = (answer: Answer): string =>
  isSuccess(answer) ? `accepted (${answer.status})` : `refused (${answer.status} ${codeOf(answer)})`;

/** A list of structured fields: `"default";q=3000;w=60`. */
export function policiesIn(header: string | null): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const found = new Map<string, Record<string, number>>();
  for (const part of (header ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const entries = parameters.map((text) => text.split("=")).map(([key = "", value]) => [key, Number(value)] as const);
    if (name !== "") found.set(name.replaceAll('"', ""), Object.fromEntries(entries));
  }
  return found;
}

/** What says nothing about the question: the key may not do it (403), the service does not offer it (501) or wants a pause (429). */
const saysNothing: readonly number[] = [403, 429, 501];

/** An order that a run may have placed. */
export interface PlacedEntry {
  readonly identifier: string;
  readonly quantity: number;
  /** Undefined while the response is missing. */
  reference?: string;
  canceled?: true;
}

/** A claim that a run may have filed. */
export interface FiledEntry {
  readonly shipment: string;
  /** Undefined while the response is missing. */
  reference?: string;
  /** Its final status. */
  ended?: string;
}

interface Journal {
  readonly version: 1;
  readonly baseUrl: string;
  /** The process that uses the file, or did until it ended. */
  readonly process: number;
  /** The runs that placed the orders. */
  readonly runs: readonly string[];
  readonly orders: PlacedEntry[];
  readonly claims: FiledEntry[];
}

export interface Question {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Whether a repeated POST changes nothing more, so that it is sent again after a lost response. GET and PUT always are. */
  readonly harmless?: boolean;
}

/** A file without assumptions, in place of that of POD_PARTNER_ASSUMPTIONS: they are to be measured. */
export const noAssumptions = {
  version: 1,
  date: "2026-01-01T00:00:00Z",
  assumptions: {},
  emulator: {},
  measured: {},
} as const;

/** What marks the orderlines of a run: the service returns annotations unchanged (specification 2.5). */
const annotationKey = "pod-partner-conform";

/** Longer than any creation that can be measured. Milliseconds. */
const timeout = 120_000;
/** Milliseconds after which an order whose response was lost has been placed, and the list shows it, if ever. */
const late = 60_000;
/** Milliseconds before each attempt to cancel what is open: an order that the service does not show yet cannot be canceled. */
const attempts = [0, 1_000, 3_000, 6_000, 10_000, 20_000, 20_000];
/** Pages of the list of orders that are read at most. */
export const maxPages = 1_000;

export const sleep = (clock: PartnerClock, ms: number): Promise<void> =>
  new Promise((resolve) => clock.after(ms, () => resolve()));

/** The CRC of PNG. Node has one only since 22.2. */
function crcOf(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A picture of one colour, of 600 x 800 pixels, as a PNG. The first pixels are the `mark`: the service may know the content of an earlier one. */
export function picture(shade: number, mark = ""): Uint8Array<ArrayBuffer> {
  const [width, height] = [600, 800];
  const chunk = (name: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length);
    body.copy(framed, 4);
    framed.writeUInt32BE(crcOf(body), body.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  // 8 bits, grey.
  head.set([8, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, shade);
  rows.write(mark, 1);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array())];
  return new Uint8Array(Buffer.concat([signature, ...chunks]));
}

/** Whether another process is running. */
function isRunning(id: number): boolean {
  try {
    return id !== process.pid && process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const inUse = (path: string, id: number): Failure =>
  new Failure(
    `Another run (process ${id}) uses the file ${path}: wait for its end, or pass another --journal. If the process is another program, remove "process" from the file.`,
    2,
  );

function readJournal(path: string, baseUrl: string): Journal | undefined {
  if (!existsSync(path)) return undefined;
  let journal: Journal;
  try {
    journal = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new Failure(`The file ${path} of an earlier run is damaged. Look for its orders by hand, then delete it.`, 2);
  }
  if (isRunning(journal.process)) throw inUse(path, journal.process);
  if (journal.baseUrl === baseUrl) return journal;
  throw new Failure(
    `The file ${path} has orders of a run against ${journal.baseUrl}: run conform against it first, or delete the file.`,
    2,
  );
}

/** The service under measurement: its requests are counted, and every order that is placed is noted before it is sent. */
export class MeasuredService {
  readonly partner: PodPartner;
  readonly clock: PartnerClock;
  readonly baseUrl: string;
  /** Marks what belongs to this run. */
  readonly run: string;
  readonly #target: Target;
  readonly #journal: Journal;
  readonly #earlier: readonly PlacedEntry[];
  readonly #end = new AbortController();
  /** Milliseconds that the latest request took, without its wait for a turn. */
  #took = 0;
  #count = 0;
  requests = 0;
  /** What is left behind and cannot be removed: uploads, renders. */
  readonly left: string[] = [];
  /** Every policy that a response has named. */
  readonly policies = new Map<string, Readonly<Record<string, number>>>();
  /** The longest creation so far, in milliseconds. */
  slowest = 0;

  constructor(target: Target) {
    const { baseUrl, clock, fetch = globalThis.fetch, journal } = target;
    this.#target = target;
    this.clock = clock;
    this.baseUrl = baseUrl;
    const before = readJournal(journal, baseUrl);
    checkFile(journal);
    this.#earlier = before?.orders.filter(({ canceled }) => !canceled) ?? [];
    this.run = crypto.randomUUID();
    const runs = [...(before?.runs ?? []), this.run];
    const claims = before?.claims.filter(({ ended }) => ended === undefined) ?? [];
    this.#journal = { version: 1, baseUrl, process: process.pid, runs, orders: [...this.#earlier], claims };
    this.#save();
    this.partner = this.#connect(async (request, init) => {
      this.requests += 1;
      const sentAt = clock.now();
      const response = await unlessPage(await fetch(request, init));
      this.#took = clock.now() - sentAt;
      for (const [name, policy] of policiesIn(response.headers.get("X-RateLimit-Policy"))) {
        this.policies.set(name, policy);
      }
      return response;
    });
  }

  #connect(fetch: FetchLike, options: Pick<PodPartnerOptions, "pacing" | "retry" | "assumptions"> = {}): PodPartner {
    const { sdk, baseUrl, secretKey, clock } = this.#target;
    const known = { timeout, responses: "report", assumptions: noAssumptions, logger: {} } as const;
    const fixed = { baseUrl, secretKey, clock, ...known };
    return new sdk.PodPartner({ ...fixed, ...options, fetch });
  }

  /** A client that ignores the limits, to empty a bucket, and the seconds of `Retry-After` when the service refuses its call. */
  unpaced() {
    const { sdk, fetch = globalThis.fetch } = this.#target;
    const count: FetchLike = (request, init) => {
      this.requests += 1;
      return fetch(request, init);
    };
    const refusalOf = async (call: Promise<unknown>): Promise<number | undefined> => {
      try {
        await call;
      } catch (error) {
        if (error instanceof sdk.ApiError && error.status === 429) return (error.retryAfter ?? Number.NaN) / 1_000;
      }
      return undefined;
    };
    return { partner: this.#connect(count, { pacing: false, retry: { retries: 0 } }), refusalOf };
  }

  /**
   * What `orders.ensure` does with the look-up's response when a client has these assumptions: it finds an order, or would send one. Nothing
   * is sent.
   */
  async ensures(customIdentifier: string, assumptions: Partial<Assumptions>): Promise<"finds" | "sends" | "fails"> {
    const { sdk, fetch = globalThis.fetch } = this.#target;
    const none = "0".repeat(26);
    const orderlines = [{ productReference: `Product_${none}`, quantity: 1 }] as const;
    const order = { customIdentifier, storeReference: `Store_${none}`, shippingKind: "combined", orderlines } as const;
    const sends = new AbortController();
    const readOnly: FetchLike = async (request, init) => {
      if (request.method === "POST") sends.abort();
      sends.signal.throwIfAborted();
      this.requests += 1;
      return unlessPage(await fetch(request, init));
    };
    try {
      const signal = AbortSignal.any([sends.signal, this.signal]);
      await this.#connect(readOnly, { assumptions }).orders.ensure(order, { signal, compare: false });
      return "finds";
    } catch (error) {
      if (sends.signal.aborted) return "sends";
      if (error instanceof sdk.ResponseValidationError || error instanceof sdk.NotFoundError) return "fails";
      throw error instanceof sdk.ApiError ? new Untried(error.message) : new LostAnswer(String(error));
    }
  }

  /** Whether an earlier run has left something that is to be canceled. */
  get unfinished(): boolean {
    return this.#earlier.length + this.#journal.claims.length > 0;
  }

  get filed(): readonly FiledEntry[] {
    return this.#journal.claims;
  }

  get placed(): readonly PlacedEntry[] {
    return this.#journal.orders;
  }

  /** Whether the run was stopped: no row goes on, only the cancellations. */
  get stopped(): boolean {
    return this.#end.signal.aborted;
  }

  /** Aborts when the run is stopped. No request that changes something takes it: its outcome must be known. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  stop(): void {
    this.#end.abort();
  }

  /** Runs a call of the SDK, and returns what the service responded, whatever it was. */
  async answerTo(call: () => ApiCall<unknown>): Promise<Answer> {
    if (this.stopped) throw new Stopped();
    return telling(await this.#answer(call));
  }

  async #answer(call: () => ApiCall<unknown>): Promise<Answer> {
    const { ApiError, ResponseValidationError, RequestValidationError, ConfigurationError } = this.#target.sdk;
    try {
      const { data: body, response } = await call().withResponse();
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (error instanceof RequestValidationError || error instanceof ConfigurationError) throw error;
      if (!(error instanceof ApiError || error instanceof ResponseValidationError)) {
        throw new LostAnswer(error instanceof Error ? error.message : String(error));
      }
      const { status, headers, body } = error.response;
      if (status === 401) throw new Failure("The service refuses the key (401): see pod-partner doctor.", 2);
      // A gateway sends a 408 for an order that the service may be placing.
      if (status === 408 || (status >= 500 && status !== 501)) throw new LostAnswer(error.message);
      return { status, headers: new Headers(headers), body };
    }
  }

  /**
   * Sends a request to a path below the base URL, again after a lost response if that changes nothing more. Throws `LostAnswer` for another
   * one, and `Untried` when no response comes, or one that says nothing about the question.
   */
  async ask(method: "GET" | "POST" | "PUT", path: string, question: Question = {}): Promise<Answer> {
    if (this.stopped) throw new Stopped();
    try {
      const { signal } = this.#end;
      return telling(await this.#ask(method, path, method === "GET" ? { ...question, signal } : question));
    } catch (error) {
      const isLost = error instanceof LostAnswer;
      // The caller must list what it has perhaps made, also when the run is stopped.
      if (isLost && method === "POST" && !question.harmless) throw error;
      if (this.stopped) throw new Stopped();
      // The client has sent it for as long as it makes sense.
      if (isLost) throw new Untried(error.message, { cause: error });
      throw error;
    }
  }

  async #ask(
    method: "GET" | "POST" | "PUT",
    path: string,
    { query, body, harmless, signal }: Question & { readonly signal?: AbortSignal },
  ): Promise<Answer> {
    const options = { ...(query && { query }), ...(body && { body: { ...body } }), ...(signal && { signal }) };
    for (let pause = 250; ; pause *= 2) {
      try {
        return await this.#answer(() => this.partner.request(method, path, options));
      } catch (error) {
        // The client itself repeats the other methods.
        if (method !== "POST" || !harmless || pause > 4_000 || !(error instanceof LostAnswer)) throw error;
      }
      await sleep(this.clock, pause);
    }
  }

  /** Requests a URL without the key. */
  async askWithoutKey(url: string): Promise<Answer> {
    if (this.stopped) throw new Stopped();
    const { fetch = globalThis.fetch } = this.#target;
    this.requests += 1;
    try {
      const response = await fetch(new Request(url), { redirect: "manual" });
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, body: undefined };
    } catch (error) {
      throw new LostAnswer(String(error));
    }
  }

  /** An identifier that no other order has. */
  nextIdentifier(): string {
    this.#count += 1;
    return `conform-${this.run.slice(0, 8)}-${this.#count}`;
  }

  /** What each orderline carries, so that an order can be recognised as one of this run. */
  get annotations() {
    return [{ key: annotationKey, value: this.run }];
  }

  #save(): void {
    writeFile(this.#target.journal, JSON.stringify(this.#journal, null, 2));
  }

  /** Removes the file if nothing that the runs placed is open. */
  close(): void {
    const { claims, orders } = this.#journal;
    // The report names a claim without a reference. No later run can find it.
    const isOpen =
      claims.some(({ reference, ended }) => reference && !ended) || orders.some(({ canceled }) => !canceled);
    if (!isOpen) rmSync(this.#target.journal, { force: true });
  }

  /** What a later save adds is known to the service, too: without it, the next run asks the service. */
  #trySave(): void {
    try {
      this.#save();
    } catch {
      // The orders must still be canceled.
    }
  }

  /** Notes what is about to be sent. Returns a function that removes the note. */
  #note<Entry>(entries: Entry[], entry: Entry): () => void {
    const forget = () => void entries.splice(entries.indexOf(entry), 1);
    entries.push(entry);
    try {
      this.#save();
    } catch (error) {
      forget();
      throw error;
    }
    return forget;
  }

  /** Files a claim about a missing package. It is noted before, and retracted at the end of the run. */
  async file(shipment: string, evidence: string): Promise<Answer & { readonly reference: string }> {
    if (this.stopped) throw new Stopped();
    const entry: FiledEntry = { shipment };
    const forget = this.#note(this.#journal.claims, entry);
    const body = { claim: { shipmentReference: shipment, evidenceReferences: [evidence] } };
    const answer = await this.#answer(() => this.partner.request("POST", "/claim-package-missing", { body }));
    const reference = at(answer.body, "claim", "reference");
    if (isSuccess(answer) && typeof reference === "string") {
      entry.reference = reference;
      this.#trySave();
      return { ...answer, reference };
    }
    if (answer.status >= 400) forget();
    this.#trySave();
    throw new Untried(`the claim was ${inWords(telling(answer))}`);
  }

  /** Sends an order. It is noted before, and canceled at the end of the run. */
  async place(
    order: Readonly<Record<string, unknown>>,
    quantity = 1,
  ): Promise<Answer & { readonly reference?: string }> {
    if (this.stopped) throw new Stopped();
    const entry: PlacedEntry = { identifier: String(order.customIdentifier), quantity };
    const { orders } = this.#journal;
    const forget = this.#note(orders, entry);
    const answer = await this.#answer(() => this.partner.request("POST", "/orders", { body: { order } }));
    // A refusal may name the order that has the identifier.
    const reference = isSuccess(answer) ? referenceIn(answer.body) : undefined;
    const isKnown = reference !== undefined && orders.some((one) => one.reference === reference);
    if (reference === undefined || isKnown) {
      // A 2xx without a reference may have placed it.
      if (answer.status >= 400 || isKnown) forget();
    } else {
      entry.reference = reference;
      this.slowest = Math.max(this.slowest, this.#took);
    }
    this.#trySave();
    return reference === undefined ? telling(answer) : { ...answer, reference };
  }

  /** Cancels an order in full. True if it is canceled. */
  async #cancel(entry: PlacedEntry, reference: string): Promise<boolean> {
    const orderlines = [{ index: 1, canceledQuantity: entry.quantity }];
    try {
      const answer = await this.#ask("POST", `/orders/${reference}/cancel`, { body: { orderlines }, harmless: true });
      if (!isSuccess(answer) && !(await this.#isCanceled(reference))) return false;
    } catch (error) {
      if (error instanceof Failure) throw error;
      return false;
    }
    entry.canceled = true;
    this.#trySave();
    return true;
  }

  async #retract(entry: FiledEntry): Promise<void> {
    const path = `/claims/${entry.reference}`;
    const answer = await this.#ask("POST", `${path}/retract`, { harmless: true });
    const status = isSuccess(answer) ? "retracted" : at((await this.#ask("GET", path, {})).body, "claim", "status");
    if (["retracted", "resolved", "rejected"].includes(String(status))) entry.ended = String(status);
  }

  async #isCanceled(reference: string): Promise<boolean> {
    const { body } = await this.#ask("GET", `/orders/${reference}`, {});
    const lines = linesOf(body);
    return lines.length > 0 && lines.every(({ quantity, canceledQuantity }) => quantity === canceledQuantity);
  }

  /** Cancels every order of this run and of an earlier one, also those whose response was lost. Returns what could not be canceled. */
  async cleanUp(): Promise<readonly PlacedEntry[]> {
    await this.#findLost();
    const open = () => this.#journal.orders.flatMap((entry) => (entry.canceled || !entry.reference ? [] : [entry]));
    try {
      for (const pause of attempts) {
        if (open().length === 0) break;
        await sleep(this.clock, pause);
        for (const entry of open()) await this.#cancel(entry, entry.reference ?? "");
      }
      for (const entry of this.#journal.claims) if (entry.reference && !entry.ended) await this.#retract(entry);
    } catch {
      // The key is refused, or the service does not respond.
    }
    this.#trySave();
    return this.#journal.orders.filter(({ canceled }) => !canceled);
  }

  /** Finds the orders whose response was lost: by the annotation of the orders in the list. */
  async #findLost(): Promise<void> {
    const { orders, runs } = this.#journal;
    const lost = orders.filter(({ reference }) => reference === undefined);
    if (lost.length === 0) return;
    await sleep(this.clock, late);
    try {
      const known = new Set(orders.map(({ reference }) => reference));
      const isOwn = (line: ReadLine) =>
        line.annotations.some(({ key, value }) => key === annotationKey && runs.includes(value));
      const { references, isWhole } = await this.#listed(known);
      // Only a list that shows the orders of this run, and annotations that are returned, prove that an order was not placed.
      let isReliable = isWhole;
      for (const reference of references) {
        const { body } = await this.#ask("GET", `/orders/${reference}`, {});
        const [line] = linesOf(body);
        if (known.has(reference)) isReliable &&= line !== undefined && isOwn(line);
        else if (line !== undefined && isOwn(line)) orders.push({ identifier: "", quantity: line.quantity, reference });
      }
      const found = orders.filter(({ reference }) => reference !== undefined && !known.has(reference)).length;
      if (isReliable || found === lost.length) for (const entry of lost) orders.splice(orders.indexOf(entry), 1);
      this.#trySave();
    } catch {
      // They stay in the file, and are listed.
    }
  }

  /**
   * The references of the list of orders that the runs can have placed, whatever its order, and whether it was read far enough: to its end,
   * or beyond the orders whose reference is `known`.
   */
  async #listed(known: ReadonlySet<string | undefined>) {
    const most = this.#journal.orders.length + 50;
    const all: string[] = [];
    for (let cursor: string | undefined, page = 1; ; page += 1) {
      const { body } = await this.#ask("GET", "/orders", cursor === undefined ? {} : { query: { cursor } });
      if (!isRecord(body) || !Array.isArray(body.orders)) throw new LostAnswer();
      all.push(...body.orders.flatMap((order) => (typeof order?.reference === "string" ? [order.reference] : [])));
      const isNewestFirst = all.slice(0, most).some((reference) => known.has(reference));
      const isEnd = typeof body.nextCursor !== "string";
      if (isEnd || page === maxPages || (isNewestFirst && all.length >= most)) {
        const references = new Set([...all.slice(0, most), ...all.slice(-most)]);
        return { references, isWhole: isEnd || isNewestFirst };
      }
      cursor = String(body.nextCursor);
    }
  }
}

/** Counts a page of HTML, which a gateway has made in place of a response of the service, as a lost response. */
async function unlessPage(response: Response): Promise<Response> {
  if (!response.ok || !response.headers.get("Content-Type")?.includes("html")) return response;
  if ((await response.text()) === "") return new Response(null, response);
  throw new TypeError("fetch failed", { cause: Object.assign(new Error("a page of HTML"), { code: "ECONNRESET" }) });
}

/** Refuses an answer that says nothing about the question. */
function telling(answer: Answer): Answer {
  const { status } = answer;
  if (status >= 300 && status < 400)
    throw new Untried(`the request was redirected (${status}), which the SDK does not follow`);
  if (saysNothing.includes(status)) throw new Untried(`the request was ${inWords(answer)}`);
  return answer;
}

interface ReadLine {
  readonly quantity: number;
  readonly canceledQuantity: number;
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

/** The orderlines of an order in a response. */
function linesOf(body: unknown): readonly ReadLine[] {
  const order = isRecord(body) && isRecord(body.order) ? body.order : undefined;
  const lines: unknown[] = Array.isArray(order?.orderlines) ? order.orderlines : [];
  return lines.filter(isRecord).map(({ quantity, canceledQuantity, annotations }) => ({
    quantity: Number(quantity),
    canceledQuantity: Number(canceledQuantity),
    annotations: Array.isArray(annotations) ? annotations : [],
  }));
}

/** The reference of a created order. */
function referenceIn(body: unknown): string | undefined {
  const reference = isRecord(body) && isRecord(body.order) ? body.order.reference : undefined;
  return typeof reference === "string" ? reference : undefined;
}
