import type { Assumptions } from "pod-partner";
import type { EmulatorAssumptions, EmulatorOptions } from "pod-partner/testing";
import { isRecord } from "../util/foreign.ts";
import {
  type Answer,
  at,
  codeOf,
  inWords,
  isSuccess,
  LostAnswer,
  type MeasuredService,
  picture,
  policiesIn,
  sleep,
  Untried,
} from "./conform-service.ts";

/** What a file of assumptions has for the emulator alone. */
type OfEmulator = Partial<EmulatorAssumptions> & Pick<EmulatorOptions, "repeatedIdentifier" | "pageSize" | "limits">;

/** What was measured: a value of JSON, and what follows from it for the file. */
export interface Measured {
  readonly value: unknown;
  readonly assumptions?: Partial<Assumptions>;
  readonly emulator?: OfEmulator;
  /** Whether the client works with this value without an override, although it is not the assumed one. */
  readonly harmless?: boolean;
  /** Whether the client works with this value in no way: no file covers it. */
  readonly unusable?: boolean;
  /** What follows for a program. */
  readonly follows?: string;
}

/** One question to the service. */
export interface Row {
  /** Names the row in files and on the command line. */
  readonly id: string;
  /** The number of the gap in docs/specification-gaps.md. */
  readonly gap: number;
  /** What is asked, in a few words. */
  readonly title: string;
  /** The value that is assumed: by the client, or by the emulator where the client assumes nothing. */
  readonly assumed: unknown;
  /** At most how many requests and orders it takes. */
  readonly requests: number;
  readonly orders?: number;
  readonly uploads?: number;
  /** The option without which it is not tried. */
  readonly needs?: keyof Permitted;
  /** Whether a run that could not try it is no success, because `orders.ensure` depends on it. */
  readonly essential?: boolean;
  /** What a file says about it that was written by hand. */
  given?(assumptions: Partial<Assumptions>): unknown;
  /** Whether what is expected covers a value that is not equal to it. */
  covers?(value: unknown, expected: unknown): boolean;
  measure(lab: Lab): Promise<Measured>;
}

export type Fields = Readonly<Record<string, unknown>>;
export type JsonObject = { [name: string]: unknown };

export const isRefused = ({ status }: Answer): boolean => status >= 400 && status < 500;

export const recordsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export const missing = (kind: string): string => `${kind}_${"0".repeat(26)}`;

export const keysOf = (record: Fields | undefined): readonly string[] => Object.keys(record ?? {}).sort();

/** The data of a response whose field is not shown: its field, null for the body itself. */
export function fieldOf(
  body: unknown,
  expected: string,
  isData: (value: unknown) => boolean,
): string | null | undefined {
  if (isRecord(body) && isData(body[expected])) return expected;
  if (isData(body) && !isRecord(body)) return null;
  if (!isRecord(body)) return undefined;
  const fields = Object.keys(body).filter((name) => isData(body[name]));
  if (fields.length === 1) return fields[0];
  return isData(body) ? null : undefined;
}

/** What a run may do only when it is told so, by option. */
export interface Permitted {
  /** The rendertokens that may be spent. */
  readonly tokens?: number | undefined;
  /** The shipment that a claim may be filed about. */
  readonly claims?: string | undefined;
  /** A render that failed. */
  readonly "failed-render"?: string | undefined;
  /** Whether a bucket may be emptied. */
  readonly "empty-bucket"?: boolean | undefined;
}

/** What the rows share: each is read at most once. */
export class Lab {
  readonly service: MeasuredService;
  readonly permitted: Permitted;
  /** Rendertokens that were spent. */
  spent = 0;
  /** Whether the list of orders begins with the newest; undefined until that is measured. */
  newestFirst: boolean | undefined;
  /** Milliseconds until the look-up shows what has changed. */
  lookupLag = 0;
  /** Names that the look-up's parameter has in the file of an earlier run. */
  readonly likely: readonly string[];
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(service: MeasuredService, permitted: Permitted, likely: readonly string[]) {
    this.service = service;
    this.permitted = permitted;
    this.likely = likely;
  }

  /** Does the work once; again only when a response was lost. */
  once<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const known = this.#known.get(name) as Promise<Value> | undefined;
    if (known !== undefined) return known;
    const made = work();
    this.#known.set(name, made);
    made.catch((error: unknown) => {
      if (!(error instanceof Untried)) this.#known.delete(name);
    });
    return made;
  }

  get(path: string, query?: Readonly<Record<string, string>>): Promise<Answer> {
    return this.service.ask("GET", path, query === undefined ? {} : { query });
  }

  /** Reads a path without parameters, once. */
  read(path: string): Promise<Answer> {
    return this.once(`GET ${path}`, async () => {
      const answer = await this.get(path);
      if (isSuccess(answer)) return answer;
      throw new Untried(`GET ${path} responded with ${answer.status} ${codeOf(answer)}`);
    });
  }

  /** The entries of a list, whatever its field is called. */
  async list(path: string): Promise<readonly Fields[]> {
    const { body } = await this.read(path);
    const field = fieldOf(body, path.slice(1), Array.isArray);
    return recordsIn(field === null ? body : at(body, field ?? ""));
  }

  async stores(): Promise<readonly string[]> {
    const stores = await this.list("/stores");
    const ready = stores.filter(({ integration }) => integration === "api" || integration === undefined);
    return ready.flatMap(({ reference }) => (typeof reference === "string" ? [reference] : []));
  }

  /** A store that takes orders from the API. */
  async store(): Promise<string> {
    const [store] = await this.stores();
    if (store === undefined) throw new Untried("no store takes orders from the API");
    return store;
  }

  /** An address in which every field has a value, so that each can be left out alone. */
  readonly address: Readonly<Record<string, string>> = {
    company: "Conformance Test",
    firstname: "Ada",
    lastname: "Jansen",
    streetname: "Damrak",
    housenumber: "1",
    housenumberAddition: "A",
    additionalInfo: "Floor 2",
    state: "NH",
    zipcode: "1012LG",
    city: "Amsterdam",
    countryCode: "NL",
    phonenumber: "+31201234567",
    email: "conform@example.com",
  };

  /** The file of the image of this run. No earlier run has uploaded it, and no render of it exists. */
  get file(): Uint8Array<ArrayBuffer> {
    return picture(200, this.service.run);
  }

  /** An image of this run, which stays. */
  image(): Promise<{ readonly reference: string; readonly status: number }> {
    return this.once("image", async () => {
      const { partner } = this.service;
      const answer = await this.service.answerTo(() => partner.images.upload(this.file));
      const reference = at(answer.body, "reference");
      if (typeof reference !== "string") throw new Untried(`the upload of an image was ${inWords(answer)}`);
      this.service.left.push(`the image ${reference}`);
      return { reference, status: answer.status };
    });
  }

  /** The body of an order. */
  async draft(line: Fields, changes: Fields = {}): Promise<JsonObject> {
    return {
      storeReference: await this.store(),
      shippingKind: "dropship",
      customIdentifier: this.service.nextIdentifier(),
      dropshipAddress: this.address,
      orderlines: [{ quantity: 1, annotations: this.service.annotations, ...line }],
      ...changes,
    };
  }

  /** The products that can probably be ordered, of the first page that has one. */
  products(): Promise<readonly Fields[]> {
    return this.once("products", async () => {
      let { body } = await this.read("/products");
      for (let page = 1; ; page += 1) {
        const ready = recordsIn(at(body, "products")).filter(({ status }) => !status || status === "launched");
        const cursor = at(body, "nextCursor");
        if (ready.length > 0) return ready;
        if (typeof cursor !== "string" || page === maxProductPages) return await this.list("/products");
        body = (await this.get("/products", { cursor })).body;
      }
    });
  }

  /** Tries products without an image until one is refused and another one is ordered. At most three are ordered. */
  kinds() {
    return this.once("kinds", async () => {
      let printed: string | undefined;
      let plain: { readonly product: string; readonly reference: string } | undefined;
      let refusal: Answer | undefined;
      let other: Answer | undefined;
      let ordered = 0;
      for (const { reference: product } of (await this.products()).slice(0, 15)) {
        if (typeof product !== "string") continue;
        if (ordered === 3 || (printed !== undefined && plain !== undefined)) break;
        const answer = await this.service.place(await this.draft({ productReference: product }));
        if (answer.reference !== undefined) {
          ordered += 1;
          plain ??= { product, reference: answer.reference };
        } else if (["missing_image_reference", "no code"].includes(codeOf(answer))) {
          printed ??= product;
          refusal ??= answer;
        } else other ??= answer;
      }
      return { printed, plain, refusal, other };
    });
  }

  /** An orderline that can be ordered. */
  async line(): Promise<Fields> {
    const { printed, plain, other } = await this.kinds();
    if (printed !== undefined) return { productReference: printed, imageReference: (await this.image()).reference };
    if (plain !== undefined) return { productReference: plain.product };
    throw new Untried(`no product could be ordered${other === undefined ? "" : `: ${inWords(other)}`}`);
  }

  /** An order of this run, with the answer to its creation. */
  async order(name: string, changes: Fields = {}) {
    return this.once(`order ${name}`, async () => {
      const draft = await this.draft(await this.line(), changes);
      const answer = await this.service.place(draft);
      const placedAt = this.service.clock.now();
      if (answer.reference === undefined) throw new Untried(`an order was ${inWords(answer)}`);
      return { draft, reference: answer.reference, status: answer.status, placedAt };
    });
  }

  /**
   * Asks until an answer shows what is looked for, for at most a minute. Returns the milliseconds from `since` to the request that shows it,
   * 0 if the first one does; undefined if none does.
   */
  async until(
    since: number,
    shows: () => Promise<boolean>,
    pause = (passed: number): number => (passed < 10_000 ? 500 : 2_000),
  ): Promise<number | undefined> {
    const { clock } = this.service;
    for (let isFirst = true; ; isFirst = false) {
      const passed = clock.now() - since;
      if (await shows()) return isFirst ? 0 : passed;
      if (passed > 60_000) return undefined;
      await sleep(clock, pause(passed));
    }
  }

  /** An order that can be read. */
  async shown(name: string) {
    const order = await this.order(name);
    const answer = await this.once(`shown ${name}`, async () => {
      let latest: Answer | undefined;
      await this.until(order.placedAt, async () => {
        latest = await this.get(`/orders/${order.reference}`);
        return isSuccess(latest);
      });
      if (latest === undefined || !isSuccess(latest))
        throw new Untried("GET /orders/{orderReference} shows no new order");
      return latest;
    });
    return { ...order, record: (at(answer.body, "order") ?? {}) as Fields };
  }

  /** Replaces the address of an order of this run. */
  async replaceAddress(changes: Fields): Promise<Answer> {
    const { reference } = await this.shown("address");
    const dropshipAddress = { ...this.address, ...changes };
    const answer = await this.service.ask("PUT", `/orders/${reference}/dropship-address`, {
      body: { dropshipAddress },
    });
    // It is about the order, not about the address.
    if ([404, 409, 410].includes(answer.status)) throw new Untried(`a new address was ${inWords(answer)}`);
    return answer;
  }

  /** Whether the service replaces an address, so that a refusal says something about the address. */
  replacesAddress(): Promise<void> {
    return this.once("address", async () => {
      const answer = await this.replaceAddress({});
      if (!isSuccess(answer)) throw new Untried(`a complete address was ${inWords(answer)}`);
    });
  }

  async cancelLines(name: string, orderlines: readonly object[]): Promise<Answer> {
    const { reference } = await this.shown(name);
    return await this.service.ask("POST", `/orders/${reference}/cancel`, { body: { orderlines }, harmless: true });
  }

  /** Cancels an order of this run in full, once for each name. Throws if the first cancellation is refused. */
  cancelMain(name = "first"): Promise<Answer> {
    return this.once(`cancel ${name}`, async () => {
      const answer = await this.cancelLines("main", [{ index: 1, canceledQuantity: 1 }]);
      if (name === "first" && !isSuccess(answer)) throw new Untried(`the cancellation was ${inWords(answer)}`);
      return answer;
    });
  }

  /** Whether a cancellation that changes nothing is accepted, so that a refusal says something about another one. */
  cancels(): Promise<void> {
    return this.once("cancellation", async () => {
      const answer = await this.cancelLines("address", [{ index: 1, canceledQuantity: 0 }]);
      if (!isSuccess(answer)) throw new Untried(`a cancellation of no units was ${inWords(answer)}`);
    });
  }

  /** The service's answer about a country, if it quotes for the Netherlands. */
  async quoteTo(countryCode: string): Promise<Answer> {
    const usual = await this.quote("NL");
    if (!isSuccess(usual)) throw new Untried(`a quote to the Netherlands was ${inWords(usual)}`);
    return await this.quote(countryCode);
  }

  quote(countryCode: string): Promise<Answer> {
    return this.once(`quote ${countryCode}`, async () => {
      const { productReference } = await this.line();
      const quote = {
        storeReference: await this.store(),
        shippingKind: "dropship",
        dropshipAddress: { ...this.address, countryCode },
        dropshipMinimalShippingLevel: "basic",
        orderlines: [{ productReference, quantity: 1 }],
      };
      return await this.service.ask("POST", "/quote", { body: { quote }, harmless: true });
    });
  }

  lookUp(parameter: string, identifier: string): Promise<Answer> {
    return this.get("/utilities/lookup-order-reference-by-custom-identifier", { [parameter]: identifier });
  }

  /** The parameter of the look-up that finds an order of this run, with the answer; undefined if no likely name does. */
  lookupParameter() {
    return this.once("look-up parameter", async () => {
      const { reference, draft, placedAt } = await this.order("main");
      const none = `${this.service.nextIdentifier()}-none`;
      const names = new Set([...this.likely, ...lookupParameters]);
      const shows = (answer: Answer) => isSuccess(answer) && JSON.stringify(answer.body ?? null).includes(reference);
      let found: { readonly parameter: string; readonly answer: Answer } | undefined;
      let isThere = false;
      const look = async () => {
        for (const parameter of names) {
          const answer = await this.lookUp(parameter, String(draft.customIdentifier));
          isThere ||= answer.status !== 404;
          if (!shows(answer)) continue;
          // A service that ignores the parameter shows the same order for every identifier.
          if (!shows(await this.lookUp(parameter, none))) {
            found = { parameter, answer };
            return true;
          }
          names.delete(parameter);
        }
        return names.size === 0;
      };
      // Each look takes a request for each name: the pauses grow.
      await this.until(placedAt, look, (passed) => Math.max(1_000, passed));
      if (!isThere) {
        throw new Untried(
          `the look-up responded with 404 to ${names.size} likely names of its parameter: ask your contact at the service for the name, because orders.ensure needs it`,
        );
      }
      return found;
    });
  }

  /** The look-up, and what a client makes of its answers. */
  lookup() {
    return this.once("look-up", async () => {
      const { reference, draft } = await this.order("main");
      const found = await this.lookupParameter();
      if (found === undefined) throw new Untried("the parameter of the look-up is not known");
      const { parameter: customIdentifierParameter, answer } = found;
      const place = placeOf(answer.body, reference);
      const ofField = place === undefined || place === "" || place.includes(".") ? {} : { orderReferenceField: place };
      const ensures = (identifier: string, assumptions: Partial<Assumptions> = {}) =>
        this.service.ensures(identifier, { customIdentifierParameter, ...ofField, ...assumptions });
      return { ...found, identifier: String(draft.customIdentifier), place, ofField, ensures };
    });
  }

  /** The lists whose first page is full, with its size and its cursor. */
  fullPages(): Promise<readonly FullPage[]> {
    return this.once("full pages", async () => {
      const found: FullPage[] = [];
      for (const name of pagedLists) {
        const { body } = await this.read(`/${name}`).catch(unlessUntried({ body: undefined }));
        const cursor = at(body, "nextCursor");
        if (typeof cursor === "string") found.push({ name, size: recordsIn(at(body, name)).length, cursor });
      }
      if (found.length === 0) throw new Untried("no list has more than a page");
      return found;
    });
  }
}

interface FullPage {
  readonly name: string;
  readonly size: number;
  readonly cursor: string;
}

/** Pages that are read at most to find a product that can be ordered. */
export const maxProductPages = 10;

export const pagedLists = ["orders", "products", "images", "items", "claims"] as const;

/** Goes on with another value when something cannot be measured. */
export const unlessUntried =
  <Value>(otherwise: Value) =>
  (error: unknown): Value => {
    if (error instanceof Untried) return otherwise;
    throw error;
  };

/** The names that the parameter of the look-up may have, the likeliest first. */
export const lookupParameters = [
  "customIdentifier",
  "identifier",
  "customReference",
  "custom_identifier",
  "customidentifier",
  "custom-identifier",
  "customOrderIdentifier",
  "orderIdentifier",
  "externalIdentifier",
  "externalReference",
  "custom_reference",
  "reference",
  "customId",
  "id",
];

/** Where a value is in a response: `order.reference`. */
function placeOf(value: unknown, wanted: string): string | undefined {
  if (value === wanted) return "";
  if (!isRecord(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const place = placeOf(inner, wanted);
    if (place !== undefined) return place === "" ? name : `${name}.${place}`;
  }
  return undefined;
}

/** Milliseconds, rounded up to steps, so that two runs over the same service agree. */
const steps = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];
export const stepOf = (ms: number): number => steps.find((step) => ms <= step) ?? Math.ceil(ms / 60_000) * 60_000;

/** A claim of this run about the given shipment. It is retracted at the end. */
export const filedClaim = (lab: Lab) =>
  lab.once("claim", async () => {
    const { service, permitted } = lab;
    const { reference: photo } = await evidence(lab, "claim");
    const { reference, status } = await service.file(String(permitted.claims), photo).catch((error: unknown) => {
      throw error instanceof LostAnswer ? new Untried("the response to the claim was lost") : error;
    });
    const { body } = await lab.get(`/claims/${reference}`);
    return { reference, status, record: (at(body, "claim") ?? {}) as Fields };
  });

export async function productDetail(lab: Lab): Promise<Fields> {
  for (const { reference } of (await lab.products()).slice(0, 3)) {
    const { body } = await lab.read(`/products/${String(reference)}`);
    const product = at(body, "product");
    if (isRecord(product) && urlsIn(product.layers, "layers").length > 0) return product;
  }
  const [first] = await lab.products();
  if (first === undefined) throw new Untried("there is no product");
  return (at((await lab.read(`/products/${String(first.reference)}`)).body, "product") ?? {}) as Fields;
}

/** The URLs in a value, with their paths: `layers.images[].url`. */
export function urlsIn(value: unknown, path: string): readonly { readonly path: string; readonly url: string }[] {
  if (typeof value === "string") return /^(https?:\/)?\//.test(value) ? [{ path, url: value }] : [];
  if (Array.isArray(value)) return value.flatMap((entry) => urlsIn(entry, `${path}[]`));
  return isRecord(value) ? Object.entries(value).flatMap(([name, inner]) => urlsIn(inner, `${path}.${name}`)) : [];
}

export async function layerUrls(lab: Lab) {
  const { media: _, reference: __, ...rest } = await productDetail(lab);
  return Object.entries(rest).flatMap(([name, value]) => urlsIn(value, name));
}

export const evidence = (lab: Lab, name: string): Promise<{ readonly reference: string; readonly status: number }> =>
  lab.once(`evidence ${name}`, async () => {
    const { service } = lab;
    const before = service.requests;
    const upload = () => service.partner.evidence.upload(picture(name === "claim" ? 101 : 100));
    const answer = await service.answerTo(upload).finally(() => {
      const more = service.requests - before - 1;
      if (more > 0) service.left.push(`perhaps evidence of ${more} more uploads, whose response was lost, for a day`);
    });
    const reference = at(answer.body, "reference");
    if (typeof reference !== "string") throw new Untried(`the upload of evidence was ${inWords(answer)}`);
    lab.service.left.push(`the evidence ${reference}, which is deleted after a day`);
    return { reference, status: answer.status };
  });

export async function orderAddress(lab: Lab): Promise<Answer> {
  const { dropshipAddressReference: reference } = (await lab.shown("main")).record;
  if (typeof reference !== "string") throw new Untried("the order names no address");
  return await lab.read(`/addresses/${reference}`);
}

/** A render of this run, as it is just after its creation. */
export const pendingRender = (lab: Lab) =>
  lab.once("render", async () => {
    const { service } = lab;
    const [product] = await lab.products();
    if (product === undefined) throw new Untried("there is no product");
    const productReference = product.reference as `Product_${string}`;
    const allowed = lab.permitted.tokens ?? 0;
    const { signal } = service;
    for await (const { composition } of service.partner.compositions.search({ productReference }, { signal })) {
      const { reference, tokenCost } = composition;
      if (lab.spent + tokenCost > allowed) {
        throw new Untried(
          `a render costs ${tokenCost} rendertokens; ${allowed} are allowed, and ${lab.spent} are spent`,
        );
      }
      const render = { compositionReference: reference, imageReference: (await lab.image()).reference };
      // Deducted, also when the response is lost.
      lab.spent += tokenCost;
      const made = await service.ask("POST", "/renders", { body: { render } }).catch((error: unknown) => {
        if (error instanceof LostAnswer)
          service.left.push(
            `perhaps a render of composition ${reference} and image ${render.imageReference}, whose response was lost`,
          );
        throw error;
      });
      const renderReference = at(made.body, "render", "reference");
      if (typeof renderReference !== "string") throw new Untried(`a render was ${inWords(made)}`);
      service.left.push(`the render ${renderReference}`);
      const { headers, body } = await lab.get(`/renders/${renderReference}`);
      return { created: made.status, headers, status: String(at(body, "render", "status")) };
    }
    throw new Untried("there is no composition");
  });

/** Requests that are sent at most to empty the bucket `default`. */
export const floodSize = 6_500;

/**
 * Empties the bucket `default`, and uploads an image five times while it is empty. The same content has the same reference, so nothing new
 * is left behind.
 */
export const refusals = (lab: Lab) =>
  lab.once("refusals", async () => {
    const { service } = lab;
    await lab.image();
    const upload = lab.file;
    const remaining = async () => {
      const { headers } = await service.answerTo(() => service.partner.images.upload(upload));
      return policiesIn(headers.get("X-RateLimit")).get("uploads")?.r;
    };
    const before = await remaining();
    if (before === undefined) throw new Untried("no header shows the bucket `uploads`");
    const { partner, refusalOf } = service.unpaced();
    const waits: number[] = [];
    const isRefused = async (call: Promise<unknown>): Promise<boolean> => {
      const seconds = await refusalOf(call);
      if (seconds !== undefined) waits.push(seconds);
      return seconds !== undefined;
    };
    let sent = 0;
    let isOver = false;
    const flood = async () => {
      while (!isOver && sent < floodSize && !service.stopped) {
        sent += 1;
        if (await isRefused(partner.organization.stores.list())) await sleep(service.clock, 20);
      }
    };
    const flooding = Promise.all(Array.from({ length: 50 }, flood)).then(() => {
      isOver = true;
    });
    while (waits.length === 0 && !isOver) await sleep(service.clock, 5);
    const outcomes: boolean[] = [];
    while (!isOver && outcomes.length < 5) outcomes.push(await isRefused(partner.images.upload(upload)));
    isOver = true;
    await flooding;
    if (waits.length === 0) throw new Untried(`${sent} requests did not empty the bucket`);
    const after = await remaining();
    const refused = outcomes.filter(Boolean).length;
    const accepted = outcomes.length - refused;
    return { waits, refused, drawn: before - (after ?? 0) - accepted - 1 };
  });
