import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import type { FetchLike, PartnerClock, PodPartner } from "pod-partner";
import { isRecord } from "../util/foreign.ts";
import { Failure } from "./arguments.ts";
import type { Sdk } from "./connection.ts";

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

/** The run is to end. */
export class Stopped extends Error {}

/** An order that a run may have placed. */
export interface PlacedEntry {
  readonly identifier: string;
  readonly quantity: number;
  /** Undefined while the response is missing. */
  reference?: string;
  canceled?: true;
}

interface Journal {
  readonly version: 1;
  readonly baseUrl: string;
  /** The runs that placed the orders. */
  readonly runs: readonly string[];
  readonly orders: PlacedEntry[];
}

export interface Question {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Whether the request changes nothing, so that it is sent again after a lost response. GET and PUT always are. */
  readonly harmless?: boolean;
}

/** What marks the orderlines of a run: the service returns annotations unchanged (specification 2.5). */
const annotationKey = "pod-partner-conform";

/** Longer than any creation that can be measured. Milliseconds. */
const timeout = 120_000;
/** Milliseconds after which a request whose response was lost has certainly been carried out. */
const late = 60_000;

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

/** A picture of one colour, of 600 x 800 pixels, as a PNG. */
export function picture(shade: number): Uint8Array<ArrayBuffer> {
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
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array())];
  return new Uint8Array(Buffer.concat([signature, ...chunks]));
}

function readJournal(path: string, baseUrl: string): Journal | undefined {
  if (!existsSync(path)) return undefined;
  let journal: Journal;
  try {
    journal = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new Failure(`The file ${path} of an earlier run is damaged. Look for its orders by hand, then delete it.`, 2);
  }
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
  #latest: Response | undefined;
  #count = 0;
  requests = 0;
  /** What is left behind and cannot be removed: uploads, renders. */
  readonly left: string[] = [];
  /** Set by a signal: no row goes on, only the cancellations. */
  stopped = false;
  /** The longest creation so far, in milliseconds. */
  slowest = 0;
  /** Whether the list of orders begins with the oldest. */
  oldestFirst = false;

  constructor(target: Target) {
    const { sdk, baseUrl, secretKey, clock, fetch = globalThis.fetch, journal } = target;
    this.#target = target;
    this.clock = clock;
    this.baseUrl = baseUrl;
    const before = readJournal(journal, baseUrl);
    this.#earlier = before?.orders.filter(({ canceled }) => !canceled) ?? [];
    this.run = crypto.randomUUID();
    this.#journal = { version: 1, baseUrl, runs: [...(before?.runs ?? []), this.run], orders: [...this.#earlier] };
    this.partner = new sdk.PodPartner({
      baseUrl,
      secretKey,
      clock,
      timeout,
      responses: "report",
      logger: {},
      fetch: async (request, init) => {
        this.requests += 1;
        this.#latest = undefined;
        const response = await fetch(request, init);
        this.#latest = response;
        return response;
      },
    });
  }

  /** The number of orders of an earlier run that are still to be canceled. */
  get unfinished(): number {
    return this.#earlier.length;
  }

  get placed(): readonly PlacedEntry[] {
    return this.#journal.orders;
  }

  /** Runs a call of the SDK, and returns what the service responded, whatever it was. */
  async answerTo(call: () => Promise<unknown>): Promise<Answer> {
    if (this.stopped) throw new Stopped();
    return await this.#answer(call);
  }

  async #answer(call: () => Promise<unknown>): Promise<Answer> {
    const { ApiError, ResponseValidationError } = this.#target.sdk;
    try {
      const body = await call();
      return { ...this.#head(), body };
    } catch (error) {
      if (error instanceof ApiError || error instanceof ResponseValidationError) {
        if (error.response.status >= 500 && error.response.status !== 501) throw new LostAnswer(error.message);
        return { ...this.#head(), body: error.response.body };
      }
      const { RequestValidationError, ConfigurationError } = this.#target.sdk;
      if (error instanceof RequestValidationError || error instanceof ConfigurationError) throw error;
      throw new LostAnswer(error instanceof Error ? error.message : String(error));
    }
  }

  #head(): { readonly status: number; readonly headers: Headers } {
    if (this.#latest === undefined) throw new LostAnswer();
    return { status: this.#latest.status, headers: this.#latest.headers };
  }

  /** Sends a request to a path below the base URL. Throws `LostAnswer` if no response came. */
  async ask(method: "GET" | "POST" | "PUT", path: string, question: Question = {}): Promise<Answer> {
    if (this.stopped) throw new Stopped();
    return await this.#ask(method, path, question);
  }

  async #ask(method: "GET" | "POST" | "PUT", path: string, { query, body, harmless }: Question): Promise<Answer> {
    const send = () =>
      this.#answer(() =>
        this.partner.request(method, path, { ...(query && { query }), ...(body && { body: { ...body } }) }),
      );
    for (let again = method === "POST" && harmless ? 8 : 0; ; again -= 1) {
      try {
        return await send();
      } catch (error) {
        if (again <= 0 || !(error instanceof LostAnswer)) throw error;
      }
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
    const open = this.#journal.orders.some(({ canceled }) => !canceled);
    const { journal } = this.#target;
    if (!open) {
      rmSync(journal, { force: true });
      return;
    }
    // Whole, whenever the process is killed.
    const partial = `${journal}.${this.run.slice(0, 8)}.part`;
    writeFileSync(partial, JSON.stringify(this.#journal, null, 2));
    renameSync(partial, journal);
  }

  /** Sends an order. It is noted before, and canceled at the end of the run. */
  async place(
    order: Readonly<Record<string, unknown>>,
    quantity = 1,
  ): Promise<Answer & { readonly reference?: string }> {
    if (this.stopped) throw new Stopped();
    const identifier = String(order.customIdentifier);
    const entry: PlacedEntry = { identifier, quantity };
    this.#journal.orders.push(entry);
    this.#save();
    const sentAt = this.clock.now();
    const answer = await this.#answer(() => this.partner.request("POST", "/orders", { body: { order } }));
    this.slowest = Math.max(this.slowest, this.clock.now() - sentAt);
    const reference = referenceIn(answer.body);
    const isKnown = this.#journal.orders.some((one) => one.reference === reference);
    if (reference === undefined || isKnown) {
      // A 2xx without a reference may have placed it.
      if (answer.status >= 400 || isKnown) this.#journal.orders.splice(this.#journal.orders.indexOf(entry), 1);
    } else entry.reference = reference;
    this.#save();
    return reference === undefined ? answer : { ...answer, reference };
  }

  /** Cancels an order in full. True if it is canceled. */
  async cancel(entry: PlacedEntry): Promise<boolean> {
    const { reference, quantity } = entry;
    if (reference === undefined) return false;
    const orderlines = [{ index: 1, canceledQuantity: quantity }];
    try {
      const answer = await this.#ask("POST", `/orders/${reference}/cancel`, { body: { orderlines }, harmless: true });
      if (answer.status >= 300 && !(await this.#isCanceled(reference))) return false;
    } catch {
      return false;
    }
    entry.canceled = true;
    this.#save();
    return true;
  }

  async #isCanceled(reference: string): Promise<boolean> {
    const { body } = await this.#ask("GET", `/orders/${reference}`, {});
    const lines = linesOf(body);
    return lines.length > 0 && lines.every(({ quantity, canceledQuantity }) => quantity === canceledQuantity);
  }

  /**
   * Cancels every order of this run and of an earlier one, also those whose response was lost. Returns what could not be canceled.
   */
  async cleanUp(): Promise<readonly PlacedEntry[]> {
    await this.#findLost();
    const open = () => this.#journal.orders.filter(({ canceled, reference }) => !canceled && reference !== undefined);
    // A new order may not be shown yet, and then cannot be canceled.
    for (let left = 5; left > 0 && open().length > 0; left -= 1) {
      if (left < 5) await sleep(this.clock, 3_000);
      for (const entry of open()) await this.cancel(entry);
    }
    return this.#journal.orders.filter(({ canceled }) => !canceled);
  }

  /** Finds the orders whose response was lost: by the look-up, and by the annotation of the newest orders. */
  async #findLost(): Promise<void> {
    const lost = () => this.#journal.orders.filter(({ reference }) => reference === undefined);
    if (lost().length === 0) return;
    // The service may still be carrying out a lost request of this run.
    if (lost().some((entry) => !this.#earlier.includes(entry))) await sleep(this.clock, late);
    try {
      const { runs } = this.#journal;
      for (const reference of await this.#newest()) {
        if (this.#journal.orders.some((entry) => entry.reference === reference)) continue;
        const { body } = await this.#ask("GET", `/orders/${reference}`, {});
        const [line] = linesOf(body);
        const isOwn = line?.annotations.some(({ key, value }) => key === annotationKey && runs.includes(value));
        if (!isOwn || line === undefined) continue;
        this.#journal.orders.push({ identifier: "", quantity: line.quantity, reference });
      }
      // What the list does not show was not placed.
      for (const entry of lost()) this.#journal.orders.splice(this.#journal.orders.indexOf(entry), 1);
      this.#save();
    } catch {
      // They stay in the file, and are listed.
    }
  }

  /** The references of the newest orders, as many as the runs can have placed. */
  async #newest(): Promise<readonly string[]> {
    const most = this.#journal.orders.length + 50;
    const all: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { body } = await this.#ask("GET", "/orders", cursor === undefined ? {} : { query: { cursor } });
      if (!isRecord(body) || !Array.isArray(body.orders)) throw new LostAnswer();
      all.push(...body.orders.flatMap((order) => (typeof order?.reference === "string" ? [order.reference] : [])));
      if (typeof body.nextCursor !== "string") break;
      if (!this.oldestFirst && all.length >= most) break;
      cursor = body.nextCursor;
    }
    return this.oldestFirst ? all.slice(-most) : all.slice(0, most);
  }
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
