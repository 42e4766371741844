import type { Assumptions, Download, NoOrder } from "pod-partner";
import type { EmulatorAssumptions } from "pod-partner/testing";
import { isRecord } from "../util/foreign.ts";
import {
  evidence,
  fieldOf,
  filedClaim,
  floodSize,
  isRefused,
  keysOf,
  type Lab,
  layerUrls,
  lookupParameters,
  type Measured,
  maxProductPages,
  missing,
  orderAddress,
  type Permitted,
  pagedLists,
  pendingRender,
  productDetail,
  type Row,
  recordsIn,
  refusals,
  stepOf,
  unlessUntried,
  urlsIn,
} from "./conform-lab.ts";
import {
  type Answer,
  at,
  codeOf,
  inWords,
  isSuccess,
  maxPages,
  policiesIn,
  sleep,
  Untried,
} from "./conform-service.ts";

const noForm = {
  unusable: true,
  follows: "No override covers this form: `orders.ensure` cannot place an order. Ask your contact at the service.",
};

const noParameter = {
  value: `none of ${lookupParameters.length} likely names`,
  unusable: true,
  follows:
    "`orders.ensure` cannot find an order. Ask your contact at the service for the name of the query parameter, write it into the file as `assumptions.customIdentifierParameter`, and run conform with `--compare`.",
};

/** The form in which the look-up says that no order has the identifier; undefined if it is none that a client can know. */
function noOrderForm(answer: Answer, field: string): NoOrder | undefined {
  const { status, body } = answer;
  if (status === 404) return body === undefined ? "bare-404" : "404";
  if (!isSuccess(answer)) return undefined;
  if (body === undefined) return "empty";
  if (body === null) return "null";
  const isNull = isRecord(body) && (body[field] === null || Object.values(body).every((value) => value === null));
  return isNull ? "null" : undefined;
}

/** A row about the field of a response that the specification does not show. */
const shapeRow = (gap: number, call: keyof Assumptions["fields"], path: string, field: string): Row => ({
  id: `field-of-${field}`,
  gap,
  title: `Field of \`GET ${path}\``,
  assumed: field,
  requests: 1,
  measure: async (lab) => {
    const { body } = await lab.read(path);
    return ofField(call, field, fieldOf(body, field, path === "/organization" ? isRecord : Array.isArray));
  },
});

/** The client reads the body itself, too. */
function ofField(call: string, assumed: string, field: string | null | undefined): Measured {
  if (field === undefined) return { value: "not found", follows: "Read the response with `partner.request`." };
  if (field === assumed) return { value: field };
  return { value: field, assumptions: { fields: { [call]: field } }, harmless: field === null };
}

interface Choice extends Pick<Row, "id" | "gap" | "title" | "assumed"> {
  readonly requests?: number;
  /** What the row says if it is accepted; "accepted" if it is missing. */
  readonly accepted?: string;
  /** What the emulator assumes then. */
  readonly emulator: (isAccepted: boolean) => Required<Measured>["emulator"];
  /** Sends the request; before it one that must be accepted, so that a refusal says something about the question. */
  readonly send: (lab: Lab) => Promise<Answer>;
}

/** A row about a request that the service accepts or refuses. */
const choiceRow = ({ accepted = "accepted", requests = 2, emulator, send, ...row }: Choice): Row => ({
  ...row,
  requests,
  measure: async (lab) => {
    const isAccepted = isSuccess(await send(lab));
    return { value: isAccepted ? accepted : "refused", emulator: emulator(isAccepted), harmless: true };
  },
});

type AddressField = EmulatorAssumptions["requiredAddressFields"][number];

const addressNames: readonly AddressField[] = [
  "company",
  "firstname",
  "lastname",
  "streetname",
  "housenumber",
  "housenumberAddition",
];
const allAddressNames: readonly AddressField[] = [
  ...addressNames,
  "additionalInfo",
  "state",
  "zipcode",
  "city",
  "countryCode",
  "phonenumber",
  "email",
];
/** A postal code, a country and an e-mail address have a form: a long one is refused for another reason. */
const longNames: readonly AddressField[] = [...addressNames, "additionalInfo", "city", "phonenumber"];

/** The largest length that is accepted, between one that is and one that is not. */
async function longest(
  accepted: number,
  refused: number,
  takes: (length: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [accepted, refused];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await takes(middle)) low = middle;
    else high = middle;
  }
  return low;
}

const maxAsked = 255;

const assumedLimits = { default: "3000 in 60 s", uploads: "5000 in 86400 s", downloads: "100000 in 86400 s" };

const deniedCountries = ["BY", "CU", "IR", "KP", "RU", "SY"];
const askedCountries = [...deniedCountries, "AF", "MM", "SD", "SS", "VE", "YE"];

/** Whether a URL has the origin of the base URL. The SDK sends the key to no other one. */
const isOwn = ({ service: { baseUrl } }: Lab, url: string): boolean =>
  new URL(url, baseUrl).origin === new URL(baseUrl).origin;

/** Whether the fields that both have are the same: what a run did not see, another may. */
const sameInCommon = (value: unknown, expected: unknown): boolean =>
  isRecord(value) &&
  isRecord(expected) &&
  Object.entries(value).every(([name, inner]) => !Object.hasOwn(expected, name) || expected[name] === inner);

/** The form of a body, without its texts: they may differ in each response. */
const formOf = (body: unknown): string => {
  if (Array.isArray(body)) return "a list";
  if (!isRecord(body)) return body === undefined ? "no body" : `a ${typeof body}`;
  return `an object with ${keysOf(body).join(", ") || "no fields"}`;
};

/** The keys of the first record of each list that has one. */
async function keysIn(lab: Lab, lists: Readonly<Record<string, string>>): Promise<Measured> {
  const value: Record<string, readonly string[]> = {};
  for (const [name, path] of Object.entries(lists)) {
    const [first] = await lab.list(path).catch(unlessUntried([]));
    if (first !== undefined) value[name] = keysOf(first);
  }
  if (Object.keys(value).length === 0) throw new Untried(`${Object.values(lists).join(" and ")} show no record`);
  return { value, harmless: true };
}

/** The codes whose status is only "4xx" in the specification, and how a request of this run provokes them. */
async function statusesOf(lab: Lab): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {};
  const note = (answer: Answer | undefined, wanted: string) => {
    if (answer !== undefined && codeOf(answer) === wanted) statuses[wanted] = answer.status;
  };
  const line = await lab.line();
  const { refusal } = await lab.kinds();
  note(refusal, "missing_image_reference");
  const { dropshipAddress: _, ...draft } = await lab.draft(line);
  note(await lab.service.place(draft), "missing_address");
  const closed = (await lab.list("/products")).find(({ status }) => status === "announced" || status === "archived");
  if (typeof closed?.reference === "string") {
    note(
      await lab.service.place(await lab.draft({ ...line, productReference: closed.reference })),
      "product_not_orderable",
    );
  }
  return statuses;
}

/** All rows, in the order in which they are measured: the rate limits first, while the buckets are full. */
export const rows: readonly Row[] = [
  {
    id: "remaining",
    gap: 108,
    title: "`r` counts the request itself",
    assumed: "yes",
    requests: 5,
    measure: async (lab) => {
      const { clock } = lab.service;
      const below: number[] = [];
      for (let left = 5; left > 0; left -= 1) {
        const { headers } = await lab.get("/stores");
        const { q = Number.NaN, w = 0 } = policiesIn(headers.get("X-RateLimit-Policy")).get("default") ?? {};
        const level = policiesIn(headers.get("X-RateLimit")).get("default")?.r;
        if (level === undefined || Number.isNaN(q)) throw new Untried("the response has no rate-limit headers");
        below.push(q - level);
        // Until the bucket is full again.
        await sleep(clock, Math.min(Math.max(500, ((q - level + 1) * w * 1_000) / q), 10_000));
      }
      // The requests before the first one have drawn tokens, too.
      below.shift();
      const least = Math.min(...below);
      if (least === 1) return { value: "yes", emulator: { remaining: "after" } };
      if (below.every((tokens) => tokens === 0)) {
        return {
          value: "no, or its token is back before the response",
          emulator: { remaining: "before" },
          harmless: true,
        };
      }
      throw new Untried(
        least === 0
          ? "some responses count it: its token is back before others are sent"
          : "the bucket was never full: other programs of the organization use it",
      );
    },
  },
  {
    id: "named-policies",
    gap: 109,
    title: "Policies that a response names",
    assumed: "those that its request used",
    requests: 1,
    measure: async (lab) => {
      const names = [...policiesIn((await lab.read("/stores")).headers.get("X-RateLimit")).keys()];
      if (names.length === 0) throw new Untried("the response has no rate-limit headers");
      return names.length === 1
        ? { value: "those that its request used", emulator: { namedPolicies: "used" } }
        : { value: "all", emulator: { namedPolicies: "all" }, harmless: true };
    },
  },
  {
    id: "error-object",
    gap: 2,
    title: "Field of the error object",
    assumed: null,
    requests: 1,
    measure: async (lab) => {
      const answer = await lab.get(`/orders/${missing("Order")}`);
      const { body } = answer;
      if (!isRefused(answer)) throw new Untried("a missing order is no error");
      if (typeof at(body, "code") === "string") return { value: null, emulator: { errorField: null } };
      const field = isRecord(body)
        ? Object.keys(body).find((name) => typeof at(body, name, "code") === "string")
        : undefined;
      if (field === undefined)
        return { value: "no error object", follows: "`error.code` is undefined: decide by the class." };
      const isRead = field === "error";
      return {
        value: field,
        emulator: { errorField: field },
        harmless: isRead,
        ...(!isRead && { follows: "`error.code` is undefined: decide by the class." }),
      };
    },
  },
  shapeRow(85, "organization.get", "/organization", "organization"),
  shapeRow(85, "organization.accounts.list", "/accounts", "accounts"),
  shapeRow(85, "organization.stores.list", "/stores", "stores"),
  shapeRow(85, "organization.brands.list", "/brands", "brands"),
  shapeRow(86, "catalog.productgroups.list", "/productgroups", "productgroups"),
  shapeRow(86, "catalog.packagings.list", "/packagings", "packagings"),
  {
    id: "fields-of-records",
    gap: 48,
    title: "Fields of account, store and brand",
    assumed: {
      account: ["name", "reference"],
      brand: ["name", "reference"],
      store: ["integration", "legacyCode", "name", "reference"],
    },
    requests: 3,
    measure: (lab) => keysIn(lab, { account: "/accounts", brand: "/brands", store: "/stores" }),
  },
  {
    id: "fields-of-groups",
    gap: 27,
    title: "Fields of productgroup and packaging",
    assumed: { packaging: ["name", "reference"], productgroup: ["name", "reference"] },
    requests: 2,
    measure: (lab) => keysIn(lab, { packaging: "/packagings", productgroup: "/productgroups" }),
  },
  {
    id: "cursor-of-lists",
    gap: 81,
    title: "`nextCursor` in a list without pages",
    assumed: false,
    requests: 2,
    measure: async (lab) => {
      const bodies = [(await lab.read("/stores")).body, (await lab.read("/brands")).body];
      const value = bodies.some((body) => isRecord(body) && "nextCursor" in body);
      return { value, emulator: { cursorOfLists: value }, harmless: true };
    },
  },
  {
    id: "perspective-fields",
    gap: 57,
    title: "Fields of a perspective in the list",
    assumed: ["name", "output", "products", "reference", "scenes"],
    requests: 1,
    measure: async (lab) => {
      const [first] = await lab.list("/perspectives");
      if (first === undefined) throw new Untried("there is no perspective");
      return { value: keysOf(first), harmless: true };
    },
  },
  {
    id: "unknown-filter",
    gap: 58,
    title: "Filter by a reference that no resource has",
    assumed: "an empty list",
    requests: 2,
    measure: async (lab) => {
      await lab.read("/perspectives");
      const answer = await lab.get("/perspectives", { sceneReference: missing("Scene") });
      return isSuccess(answer)
        ? { value: "an empty list", emulator: { unknownFilter: "empty" } }
        : { value: inWords(answer), emulator: { unknownFilter: "refuse" }, harmless: true };
    },
  },
  choiceRow({
    id: "unknown-parameter",
    gap: 84,
    title: "Query parameter that the endpoint does not have",
    assumed: "refused",
    accepted: "ignored",
    emulator: (isAccepted) => ({ unknownParameters: isAccepted ? "ignore" : "refuse" }),
    send: async (lab) => {
      await lab.read("/orders");
      return lab.get("/orders", { conform: "1" });
    },
  }),
  choiceRow({
    id: "content-without-body",
    gap: 55,
    title: "Body where an endpoint has none",
    assumed: "refused",
    accepted: "ignored",
    requests: 1,
    emulator: (isAccepted) => ({ contentWithoutBody: isAccepted ? "ignore" : "refuse" }),
    // The run began with one without a body.
    send: (lab) => lab.service.ask("POST", "/auth/validate", { body: { conform: 1 }, harmless: true }),
  }),
  {
    id: "closed-after",
    gap: 72,
    title: "Forms of `closedAfter`",
    assumed: ["offset", "local", "date"],
    requests: 3,
    measure: async (lab) => {
      const forms = { offset: "2026-01-01T00:00:00Z", local: "2026-01-01T00:00:00", date: "2026-01-01" } as const;
      await lab.read("/claims");
      const value: (keyof typeof forms)[] = [];
      for (const [form, closedAfter] of Object.entries(forms)) {
        if (isSuccess(await lab.get("/claims", { closedAfter }))) value.push(form as keyof typeof forms);
      }
      return { value, emulator: { closedAfterForms: value }, harmless: value.includes("offset") };
    },
  },
  {
    id: "page-size",
    gap: 104,
    title: "Page sizes",
    assumed: Object.fromEntries(pagedLists.map((name) => [name, 50])),
    covers: sameInCommon,
    requests: 5,
    measure: async (lab) => {
      const sizes = Object.fromEntries((await lab.fullPages()).map(({ name, size }) => [name, size]));
      return { value: sizes, emulator: { pageSize: sizes }, harmless: true };
    },
  },
  {
    id: "cursor-twice",
    gap: 82,
    title: "A cursor can be used twice",
    assumed: true,
    requests: 7,
    measure: async (lab) => {
      const [page] = await lab.fullPages();
      if (page === undefined) throw new Untried("no list has more than a page");
      const { name, cursor } = page;
      const [first, second] = [await lab.get(`/${name}`, { cursor }), await lab.get(`/${name}`, { cursor })];
      if (!isSuccess(first)) throw new Untried(`the second page of /${name} was ${inWords(first)}`);
      const value = isSuccess(second);
      const follows = "A page whose response was lost cannot be read again: iterate from the start after an error.";
      return { value, emulator: { cursorReuse: value }, harmless: true, ...(!value && { follows }) };
    },
  },
  {
    id: "invalid-cursor",
    gap: 82,
    title: "A cursor that is not valid",
    assumed: "refused (400 unknown_input_error)",
    requests: 1,
    measure: async (lab) => ({ value: inWords(await lab.get("/orders", { cursor: "conform" })), harmless: true }),
  },
  {
    id: "media",
    gap: 25,
    title: "Fields of a product's `media`",
    assumed: ["filename", "url"],
    requests: 2,
    measure: async (lab) => {
      const { media } = await productDetail(lab);
      const [entry] = recordsIn(media);
      if (entry === undefined) throw new Untried("the product has no media");
      return { value: keysOf(entry), harmless: true };
    },
  },
  {
    id: "layer-images",
    gap: 26,
    title: "Place of the layer image URLs",
    assumed: "layers.images[].url",
    requests: 2,
    measure: async (lab) => {
      const [place] = await layerUrls(lab);
      if (place === undefined) throw new Untried("the product has no layer images");
      return { value: place.path, harmless: true };
    },
  },
  {
    id: "files-need-key",
    gap: 113,
    title: "Media and layer images need the key",
    assumed: "yes, on the base URL's origin",
    requests: 3,
    measure: async (lab) => {
      const detail = await productDetail(lab);
      const [layer] = await layerUrls(lab);
      const url = layer?.url ?? urlsIn(detail.media, "media")[0]?.url;
      if (url === undefined) throw new Untried("the product shows no URL");
      const own = isOwn(lab, url);
      const without = await lab.service.askWithoutKey(new URL(url, lab.service.baseUrl).href);
      const isOpen = isSuccess(without);
      if (!isOpen && without.status !== 401 && without.status !== 403) {
        throw new Untried(`without the key, the response was ${without.status}`);
      }
      return {
        value: `${isOpen ? "no" : "yes"}, on ${own ? "the base URL's" : "another"} origin`,
        emulator: { filesNeedKey: !isOpen },
        harmless: own,
        ...(!own && { follows: "`layerImage` refuses the URL: request it with `fetch`, without the key." }),
      };
    },
  },
  {
    id: "layer-headers",
    gap: 113,
    title: "`Cache-Control` of layer images",
    assumed: "private, no-cache",
    requests: 3,
    measure: async (lab) => {
      const [layer] = await layerUrls(lab);
      if (layer === undefined) throw new Untried("the product has no layer images");
      if (!isOwn(lab, layer.url))
        throw new Untried("the layer images are on another origin: the SDK sends no key there");
      const answer = await lab.service.answerTo(() => lab.service.partner.catalog.products.layerImage(layer.url));
      if (!isSuccess(answer)) throw new Untried(`the layer image was ${inWords(answer)}`);
      await (answer.body as Download).cancel();
      const header = answer.headers.get("Cache-Control");
      const emulator = header === null ? {} : { layerCacheControl: header };
      return { value: header ?? "no header", emulator, harmless: true };
    },
  },
  {
    id: "created-status",
    gap: 83,
    title: "Status of creations",
    assumed: { "evidence.upload": 200, "images.upload": 200, "orders.create": 200 },
    requests: 4,
    orders: 1,
    uploads: 2,
    measure: async (lab) => {
      const value = {
        "evidence.upload": (await evidence(lab, "first")).status,
        "images.upload": (await lab.image()).status,
        "orders.create": (await lab.order("main")).status,
      };
      return { value, emulator: { createdStatus: value }, harmless: true };
    },
  },
  {
    id: "identical-evidence",
    gap: 34,
    title: "Evidence with the same content",
    assumed: "a new reference",
    requests: 2,
    uploads: 2,
    measure: async (lab) => {
      const [first, second] = [await evidence(lab, "first"), await evidence(lab, "second")];
      const isSame = first.reference === second.reference;
      return {
        value: isSame ? "the same reference" : "a new reference",
        emulator: { identicalEvidence: isSame ? "same" : "new" },
        harmless: true,
      };
    },
  },
  {
    id: "lookup-parameter",
    gap: 89,
    title: "Parameter of the look-up by identifier",
    assumed: "customIdentifier",
    essential: true,
    given: ({ customIdentifierParameter }) => customIdentifierParameter,
    requests: 150,
    measure: async (lab) => {
      const { parameter } = (await lab.lookupParameter()) ?? {};
      if (parameter === undefined) return noParameter;
      return {
        value: parameter,
        assumptions: { customIdentifierParameter: parameter },
        follows: "Without the override every `orders.ensure` fails or sees no order.",
      };
    },
  },
  {
    id: "lookup-field",
    gap: 79,
    title: "Field of the look-up's response",
    assumed: "orderReference",
    requests: 2,
    measure: async (lab) => {
      const { identifier, place, ofField, ensures } = await lab.lookup();
      const value = place === "" ? "the body itself" : (place ?? "another form");
      if ((await ensures(identifier)) !== "finds") return { value, ...noForm };
      return {
        value,
        assumptions: ofField,
        harmless: (await ensures(identifier, { orderReferenceField: "orderReference" })) === "finds",
        follows: "Without the override a look-up ends as a `ResponseValidationError`.",
      };
    },
  },
  {
    id: "lookup-none",
    gap: 80,
    title: "Look-up of an identifier that no order has",
    assumed: "404",
    requests: 3,
    measure: async (lab) => {
      const { parameter, ofField, ensures } = await lab.lookup();
      const identifier = `${lab.service.nextIdentifier()}-none`;
      const answer = await lab.lookUp(parameter, identifier);
      const form = noOrderForm(answer, ofField.orderReferenceField ?? "");
      if (form === undefined || (await ensures(identifier, { noOrder: [form] })) !== "sends") {
        const isBare = codeOf(answer) === "no code";
        return { value: isBare ? `${answer.status} with ${formOf(answer.body)}` : inWords(answer), ...noForm };
      }
      return {
        value: form,
        assumptions: { noOrder: [form] },
        harmless: form !== "bare-404",
        follows: "Without the override no order can be placed with `orders.ensure`.",
      };
    },
  },
  {
    id: "list-order",
    gap: 114,
    title: "Order of the list of orders",
    assumed: "newest first",
    requests: 20,
    measure: async (lab) => {
      const [older, newer] = [await lab.shown("main"), await lab.shown("address")];
      let isNewestFirst: boolean | undefined;
      const look = async () => {
        const listed: string[] = [];
        for (let cursor: string | undefined, page = 1; page <= maxPages; page += 1) {
          const { body } = await lab.get("/orders", cursor === undefined ? undefined : { cursor });
          listed.push(...recordsIn(at(body, "orders")).map(({ reference }) => String(reference)));
          const [first, second] = [listed.indexOf(newer.reference), listed.indexOf(older.reference)];
          if (first >= 0 && second >= 0) isNewestFirst = first < second;
          const next = at(body, "nextCursor");
          if (isNewestFirst !== undefined || typeof next !== "string") break;
          cursor = next;
        }
        return isNewestFirst !== undefined;
      };
      await lab.until(newer.placedAt, look, (passed) => Math.max(2_000, passed));
      if (isNewestFirst === undefined) throw new Untried("the list does not show the orders of this run");
      lab.newestFirst = isNewestFirst;
      return isNewestFirst
        ? { value: "newest first", emulator: { listOrder: "newest-first" } }
        : { value: "oldest first", emulator: { listOrder: "oldest-first" }, harmless: true };
    },
  },
  {
    id: "visible-after",
    gap: 111,
    title: "Milliseconds until look-up, list and read show a new order",
    assumed: "at once",
    covers: (value, expected) =>
      value === "at once" ||
      (isRecord(value) &&
        isRecord(expected) &&
        // Two runs over the same service differ by the time between two requests.
        Object.entries(value).every(([kind, ms]) => Number(ms) <= 1_000 + 1.25 * Number(expected[kind]))),
    requests: 40,
    orders: 3,
    measure: async (lab) => {
      const found = await lab.lookup().catch(unlessUntried(undefined));
      const slowest: Record<string, number> = {};
      // Only the first page of a list that begins with the newest shows when an order is in it.
      const kinds = [...(found ? ["lookup"] : []), ...(lab.newestFirst ? ["list"] : []), "read"];
      // An order for each: while one is asked for, time passes for the others.
      for (const kind of kinds) {
        slowest[kind] = await lab.once(`visible ${kind}`, async () => {
          const { reference, draft, placedAt } = await lab.order(`timed ${kind}`);
          const ms = await lab.until(placedAt, async () => {
            if (kind === "read") return isSuccess(await lab.get(`/orders/${reference}`));
            const answer =
              kind === "list"
                ? await lab.get("/orders")
                : await lab.lookUp(found?.parameter ?? "", String(draft.customIdentifier));
            return isSuccess(answer) && JSON.stringify(answer.body ?? null).includes(reference);
          });
          return ms ?? 60_000;
        });
      }
      const { lookup = 0 } = slowest;
      lab.lookupLag = lookup;
      const late = Object.entries(slowest)
        .filter(([, ms]) => ms > 1_000)
        .map(([kind, ms]) => [kind, Math.ceil(ms / 500) * 500] as const);
      if (late.length === 0) return { value: "at once" };
      return {
        value: Object.fromEntries(late),
        emulator: { visibleAfter: Object.fromEntries(late) },
        // The client assumes 4 s for the look-up, and reads an order again for 30 s.
        ...(lookup > 4_000 && { assumptions: { lookupTime: stepOf(2 * lookup) } }),
        harmless: lookup <= 4_000 && late.every(([, ms]) => ms <= 30_000),
        follows:
          lookup > 4_000
            ? "Without the override an order whose response is lost can be placed twice."
            : "A look-up or a read just after a creation can show no order. The SDK repeats it.",
      };
    },
  },
  {
    id: "repeated-identifier",
    gap: 18,
    title: "A `customIdentifier` that exists",
    assumed: "the first order's reference",
    requests: 1,
    orders: 1,
    measure: async (lab) => {
      const { draft, reference } = await lab.order("main");
      const answer = await lab.service.place(draft);
      if (answer.reference === reference) {
        return { value: "the first order's reference", emulator: { repeatedIdentifier: "return-first" } };
      }
      if (answer.reference !== undefined) {
        return {
          value: "a second order",
          emulator: { repeatedIdentifier: "create" },
          harmless: true,
          follows: "Only `orders.ensure` and a storage keep an order from being doubled: never send an order twice.",
        };
      }
      const statuses = answer.status === 409 ? {} : { statuses: { custom_identifier_taken: answer.status } };
      return {
        value: inWords(answer),
        emulator: { repeatedIdentifier: "refuse", ...statuses },
        harmless: answer.status === 409,
        ...(answer.status !== 409 && {
          follows:
            "After a lost response `orders.ensure` can end with this error, although the order exists: call it again.",
        }),
      };
    },
  },
  {
    id: "identifier-scope",
    gap: 19,
    title: "Where a `customIdentifier` is unique",
    assumed: "in the organization",
    requests: 1,
    orders: 1,
    measure: async (lab) => {
      const { draft, reference } = await lab.order("main");
      const other = (await lab.stores()).find((store) => store !== draft.storeReference);
      if (other === undefined) throw new Untried("only one store takes orders from the API");
      const again = await lab.service.place(draft);
      if (again.reference !== undefined && again.reference !== reference)
        throw new Untried("an identifier can be used twice");
      const answer = await lab.service.place({ ...draft, storeReference: other });
      const isNew = answer.reference !== undefined && answer.reference !== reference;
      return {
        value: isNew ? "in a store" : "in the organization",
        emulator: { identifierScope: isNew ? "store" : "organization" },
        harmless: true,
        ...(isNew && {
          follows: "Give each order an identifier of its own in all stores: the look-up names no store.",
        }),
      };
    },
  },
  {
    id: "identifier-length",
    gap: 19,
    title: "Length of a `customIdentifier`",
    assumed: `at least ${maxAsked}`,
    requests: 9,
    orders: 9,
    measure: async (lab) => {
      const line = await lab.line();
      await lab.order("main");
      const takes = async (length: number) => {
        const identifier = lab.service.nextIdentifier().padEnd(length, "-");
        const { reference } = await lab.service.place(await lab.draft(line, { customIdentifier: identifier }));
        return reference !== undefined;
      };
      if (await takes(maxAsked)) return { value: `at least ${maxAsked}`, emulator: { identifierLength: null } };
      const shortest = lab.service.nextIdentifier().length;
      const value = await longest(shortest, maxAsked, takes);
      return {
        value,
        emulator: { identifierLength: value },
        harmless: true,
        follows: `Keep identifiers to ${value} characters.`,
      };
    },
  },
  {
    id: "smallest-quantity",
    gap: 24,
    title: "Smallest quantity of a line",
    assumed: 1,
    requests: 1,
    orders: 1,
    measure: async (lab) => {
      const line = await lab.line();
      await lab.order("main");
      const answer = await lab.service.place(await lab.draft({ ...line, quantity: 0 }), 0);
      const value = answer.reference === undefined ? 1 : 0;
      return { value, emulator: { smallestQuantity: value }, harmless: true };
    },
  },
  {
    id: "order-fields",
    gap: 91,
    title: "Order fields that select a brand or a packaging",
    assumed: [],
    requests: 2,
    orders: 2,
    measure: async (lab) => {
      const line = await lab.line();
      await lab.order("main");
      const named = { brandReference: "/brands", packagingReference: "/packagings" };
      const value: string[] = [];
      for (const [field, path] of Object.entries(named)) {
        const [first] = await lab.list(path).catch(unlessUntried([]));
        if (first === undefined) continue;
        const { reference } = await lab.service.place(await lab.draft(line, { [field]: first.reference }));
        if (reference !== undefined) value.push(field);
      }
      return { value, emulator: { orderFields: value }, harmless: true };
    },
  },
  {
    id: "statuses",
    gap: 101,
    title: "Statuses of the codes listed as 4xx",
    assumed: { missing_address: 400, missing_image_reference: 400, product_not_orderable: 400 },
    requests: 2,
    orders: 2,
    measure: async (lab) => {
      const value = await statusesOf(lab);
      if (Object.keys(value).length === 0) throw new Untried("no request was refused with one of these codes");
      return { value, emulator: { statuses: value }, harmless: true };
    },
  },
  {
    id: "status",
    gap: 17,
    title: "`status` of a new order",
    assumed: { code: "received" },
    requests: 1,
    measure: async (lab) => {
      const { status } = (await lab.shown("main")).record;
      const code = at(status, "code");
      // Other fields may be different in each order.
      if (typeof code !== "string") return { value: formOf(status), harmless: true };
      return { value: { code }, emulator: { statusCodes: { received: code } }, harmless: true };
    },
  },
  {
    id: "fields-of-order",
    gap: 15,
    title: "Fields of an order",
    assumed: ["dropshipAddressReference", "legacyOrderCode", "onHold", "orderlines", "reference", "status"],
    requests: 1,
    measure: async (lab) => ({ value: keysOf((await lab.shown("main")).record), harmless: true }),
  },
  {
    id: "fields-in-list",
    gap: 65,
    title: "Fields of an order in the list",
    assumed: ["legacyOrderCode", "reference", "status"],
    requests: 1,
    measure: async (lab) => {
      await lab.shown("main");
      const [first] = recordsIn(at((await lab.get("/orders")).body, "orders"));
      if (first === undefined) throw new Untried("the list shows no order");
      return { value: keysOf(first), harmless: true };
    },
  },
  {
    id: "absent-value",
    gap: 20,
    title: "A value that does not apply",
    assumed: "null",
    requests: 2,
    measure: async (lab) => {
      const { plain } = await lab.kinds();
      if (plain === undefined) throw new Untried("no product without print was found");
      const answer = await lab.get(`/orders/${plain.reference}`);
      const line = at(answer.body, "order", "orderlines", 0);
      if (!isRecord(line)) throw new Untried("the service does not show the order");
      const value = !("imageReference" in line) ? "missing" : line.imageReference === null ? "null" : "another value";
      if (value === "another value") return { value };
      return { value, emulator: { absentValue: value }, harmless: true };
    },
  },
  {
    id: "field-of-address",
    gap: 87,
    title: "Field of `GET /addresses/{addressReference}`",
    assumed: "address",
    requests: 1,
    measure: async (lab) => {
      const { body } = await orderAddress(lab);
      const isAddress = (value: unknown) => isRecord(value) && "city" in value;
      return ofField("addresses.get", "address", fieldOf(body, "address", isAddress));
    },
  },
  {
    id: "returned-address",
    gap: 56,
    title: "Address fields that are returned in another form",
    assumed: [],
    requests: 1,
    measure: async (lab) => {
      const { body } = await orderAddress(lab);
      const records = [body, ...(isRecord(body) ? Object.values(body) : [])].filter(isRecord);
      const record = records.find((value) => "city" in value);
      if (record === undefined) throw new Untried("the response has no address");
      const value = allAddressNames.filter((name) => record[name] !== lab.address[name]);
      return { value, harmless: true };
    },
  },
  {
    id: "required-fields",
    gap: 14,
    title: "Address fields that must not be empty",
    assumed: ["countryCode", "email"],
    requests: 13,
    orders: 1,
    measure: async (lab) => {
      await lab.replacesAddress();
      const value: AddressField[] = [];
      for (const name of allAddressNames) if (isRefused(await lab.replaceAddress({ [name]: "" }))) value.push(name);
      value.sort();
      return {
        value,
        emulator: { requiredAddressFields: value },
        harmless: value.every((name) =>
          ["countryCode", "email", "firstname", "lastname", "streetname", "zipcode", "city"].includes(name),
        ),
        follows: `Fill in ${value.join(", ")}.`,
      };
    },
  },
  {
    id: "absent-fields",
    gap: 70,
    title: "Address fields that must be present, although they may be empty",
    assumed: [],
    requests: 13,
    measure: async (lab) => {
      await lab.replacesAddress();
      const value: string[] = [];
      for (const name of allAddressNames) {
        if (isRefused(await lab.replaceAddress({ [name]: "" }))) continue;
        if (isRefused(await lab.replaceAddress({ [name]: undefined }))) value.push(name);
      }
      return { value, harmless: true };
    },
  },
  {
    id: "address-lengths",
    gap: 14,
    title: `Address fields that take fewer than ${maxAsked} characters`,
    assumed: {},
    requests: 80,
    measure: async (lab) => {
      await lab.replacesAddress();
      const value: Record<string, number> = {};
      for (const name of longNames) {
        // Its last character is repeated, so that the form stays.
        const { [name]: usual = "" } = lab.address;
        const takes = async (length: number) =>
          isSuccess(await lab.replaceAddress({ [name]: usual.padEnd(length, usual.at(-1)) }));
        if (await takes(maxAsked)) continue;
        const found = await longest(usual.length, maxAsked, takes);
        // One character more is refused, perhaps for its form.
        if (found > usual.length) value[name] = found;
      }
      return {
        value,
        emulator: { addressLengths: value },
        harmless: true,
        follows: "Shorten the fields, or the order is refused.",
      };
    },
  },
  choiceRow({
    id: "email-form",
    gap: 12,
    title: "E-mail address without an `@`",
    assumed: "refused",
    emulator: (isAccepted) => ({ checksEmail: !isAccepted }),
    send: async (lab) => {
      await lab.replacesAddress();
      return lab.replaceAddress({ email: "nobody" });
    },
  }),
  {
    id: "denied-countries",
    gap: 13,
    title: `Denied countries, of ${askedCountries.length} that were asked`,
    assumed: deniedCountries,
    requests: 13,
    measure: async (lab) => {
      const value: string[] = [];
      for (const country of askedCountries) if (isRefused(await lab.quoteTo(country))) value.push(country);
      return { value: value.sort(), emulator: { deniedCountries: value }, harmless: true };
    },
  },
  choiceRow({
    id: "unassigned-country",
    gap: 11,
    title: "A country code that ISO 3166-1 does not assign",
    assumed: "accepted",
    emulator: (isAccepted) => ({ unassignedCountry: isAccepted ? "accept" : "refuse" }),
    send: (lab) => lab.quoteTo("QX"),
  }),
  choiceRow({
    id: "empty-cancellation",
    gap: 66,
    title: "A cancellation without lines",
    assumed: "accepted",
    emulator: (isAccepted) => ({ emptyCancellation: isAccepted ? "accept" : "refuse" }),
    send: async (lab) => {
      await lab.cancels();
      return lab.cancelLines("address", []);
    },
  }),
  choiceRow({
    id: "repeated-line",
    gap: 66,
    title: "A line that a cancellation names twice",
    assumed: "refused",
    emulator: (isAccepted) => ({ repeatedLine: isAccepted ? "last" : "refuse" }),
    send: async (lab) => {
      await lab.cancels();
      const line = { index: 1, canceledQuantity: 0 };
      return lab.cancelLines("address", [line, line]);
    },
  }),
  {
    id: "repeated-cancellation",
    gap: 67,
    title: "A cancellation that is sent twice",
    assumed: "accepted",
    requests: 2,
    measure: async (lab) => {
      const value = isSuccess(await lab.cancelMain()) && isSuccess(await lab.cancelMain("again"));
      return {
        value: value ? "accepted" : "refused",
        harmless: true,
        follows: "After a lost response the SDK reads the order.",
      };
    },
  },
  {
    id: "canceled-in-lookup",
    gap: 112,
    title: "The look-up finds a canceled order",
    assumed: true,
    requests: 4,
    orders: 1,
    measure: async (lab) => {
      const { parameter } = await lab.lookup();
      // Other rows use the identifier of `main` again.
      const { draft, reference, placedAt } = await lab.shown("canceled");
      const isFound = async () => {
        const answer = await lab.lookUp(parameter, String(draft.customIdentifier));
        return isSuccess(answer) && JSON.stringify(answer.body ?? null).includes(reference);
      };
      await lab.once("canceled", async () => {
        if ((await lab.until(placedAt, isFound)) === undefined) throw new Untried("the look-up shows no new order");
        const answer = await lab.cancelLines("canceled", [{ index: 1, canceledQuantity: 1 }]);
        if (!isSuccess(answer)) throw new Untried(`the cancellation was ${inWords(answer)}`);
      });
      await sleep(lab.service.clock, 2 * lab.lookupLag);
      const value = await isFound();
      return {
        value,
        emulator: { findsCanceled: value },
        follows: "`orders.ensure` places a canceled order again: remember yourself which orders you canceled.",
      };
    },
  },
  {
    id: "limits",
    gap: 115,
    title: "Quotas and windows",
    assumed: assumedLimits,
    requests: 0,
    measure: async (lab) => {
      const seen = [...lab.service.policies].filter(([, { q, w }]) => q !== undefined && w !== undefined);
      if (seen.length === 0) throw new Untried("no response has rate-limit headers");
      const quotas = seen.map(([name, { q = 1, w = 1 }]) => [name, { quota: q, window: w * 1_000 }] as const);
      return {
        value: Object.fromEntries(seen.map(([name, { q, w }]) => [name, `${q} in ${w} s`])),
        emulator: { limits: Object.fromEntries(quotas.filter(([name]) => Object.hasOwn(assumedLimits, name))) },
        harmless: true,
      };
    },
  },
  {
    id: "creation-time",
    gap: 64,
    title: "Milliseconds that a creation takes at most, with a margin",
    assumed: 30_000,
    covers: (value, expected) => Number(value) <= Number(expected),
    requests: 0,
    measure: async (lab) => {
      await lab.order("main");
      const { slowest } = lab.service;
      // Three times the slowest creation of this run: a few orders of a quiet hour do not show the worst.
      const processingTime = Math.max(30_000, Math.ceil((slowest * 3 + lab.lookupLag) / 10_000) * 10_000);
      return {
        value: processingTime,
        assumptions: { processingTime },
        emulator: { creationTime: slowest <= 1_000 ? 0 : Math.round(slowest) },
        follows: "Without the override a slow order can be placed twice.",
      };
    },
  },
  {
    id: "render-status",
    gap: 59,
    title: "`Retry-After` of a pending render's status",
    assumed: true,
    requests: 8,
    needs: "tokens",
    measure: async (lab) => {
      const { headers, status } = await pendingRender(lab);
      if (status !== "pending") throw new Untried(`the render was ${status} at once`);
      const value = headers.has("Retry-After");
      return { value, emulator: { renderRetryAfter: value }, harmless: true };
    },
  },
  {
    id: "render-created-status",
    gap: 83,
    title: "Status of `POST /renders`",
    assumed: 200,
    requests: 0,
    needs: "tokens",
    measure: async (lab) => {
      const value = (await pendingRender(lab)).created;
      return { value, emulator: { createdStatus: { "renders.create": value } }, harmless: true };
    },
  },
  {
    id: "failed-render-file",
    gap: 61,
    title: "The file of a failed render",
    assumed: "refused (409 render_failed)",
    requests: 2,
    needs: "failed-render",
    measure: async (lab) => {
      const reference = lab.permitted["failed-render"];
      const status = at((await lab.read(`/renders/${reference}`)).body, "render", "status");
      if (status !== "failed") throw new Untried(`the render ${reference} is ${String(status)}`);
      const answer = await lab.get(`/renders/${reference}/media`);
      const isCode = codeOf(answer) === "render_failed";
      const emulator = isCode ? { statuses: { render_failed: answer.status } } : {};
      return { value: inWords(answer), emulator, harmless: true };
    },
  },
  {
    id: "retry-after",
    gap: 116,
    title: "The longest `Retry-After` of an empty bucket, in seconds",
    assumed: 1,
    covers: (value, expected) => Number(value) <= Number(expected),
    requests: floodSize,
    needs: "empty-bucket",
    measure: async (lab) => {
      const { waits } = await refusals(lab);
      const longest = Math.max(...waits);
      if (!Number.isFinite(longest)) {
        return { value: "no Retry-After", follows: "The client waits for the time of `X-RateLimit`, or a second." };
      }
      const follows = "Raise `retry.maxRetryAfter`, or a call ends with the error instead of waiting.";
      return { value: stepOf(longest * 1_000) / 1_000, harmless: longest <= 120, ...(longest > 120 && { follows }) };
    },
  },
  {
    id: "refused-tokens",
    gap: 107,
    title: "What a refused upload costs in the bucket `uploads`",
    assumed: "no token",
    requests: 0,
    needs: "empty-bucket",
    measure: async (lab) => {
      const { refused, drawn } = await refusals(lab);
      if (refused === 0) throw new Untried("no upload was refused");
      return { value: drawn > refused / 2 ? "a token" : "no token", harmless: true };
    },
  },
  {
    id: "claim-created-status",
    gap: 83,
    title: "Status of `POST /claim-package-missing`",
    assumed: 200,
    requests: 2,
    uploads: 1,
    needs: "claims",
    measure: async (lab) => {
      const { status } = await filedClaim(lab);
      return { value: status, emulator: { createdStatus: { "claims.createPackageMissing": status } }, harmless: true };
    },
  },
  {
    id: "evidence-urls",
    gap: 36,
    title: "Evidence URLs need the key",
    assumed: "yes, on the base URL's origin",
    requests: 2,
    needs: "claims",
    measure: async (lab) => {
      const { record } = await filedClaim(lab);
      const [url] = Array.isArray(record.evidenceUrls) ? record.evidenceUrls : [];
      if (typeof url !== "string") throw new Untried("the claim shows no evidence URL");
      const own = isOwn(lab, url);
      const answer = await lab.service.askWithoutKey(new URL(url, lab.service.baseUrl).href);
      const isOpen = isSuccess(answer);
      if (!isOpen && ![401, 403].includes(answer.status))
        throw new Untried(`without the key, the URL was ${inWords(answer)}`);
      const follows = "`evidence.download` refuses the URL: request it with `fetch`, without the key.";
      const value = `${isOpen ? "no" : "yes"}, on ${own ? "the base URL's" : "another"} origin`;
      return { value, harmless: own, ...(!own && { follows }) };
    },
  },
  {
    id: "retracted-decision",
    gap: 37,
    title: "`decision` of a retracted claim",
    assumed: "null",
    requests: 2,
    needs: "claims",
    measure: async (lab) => {
      const { reference } = await filedClaim(lab);
      const answer = await lab.service.ask("POST", `/claims/${reference}/retract`, { harmless: true });
      const { body } = await lab.get(`/claims/${reference}`);
      const status = at(body, "claim", "status");
      if (status !== "retracted") throw new Untried(`the retraction was ${inWords(answer)}`);
      const decision = at(body, "claim", "decision");
      return { value: decision === null ? "null" : decision === undefined ? "missing" : "an object", harmless: true };
    },
  },
];

const sum = (numbers: readonly (number | undefined)[]): number =>
  numbers.reduce<number>((total, number = 0) => total + number, 0);

/** What a run costs at most. */
export function costOf(permitted: Permitted) {
  const asked = rows.filter(({ needs }) => needs === undefined || permitted[needs]);
  // The orders that the rows share, and those that products are tried with.
  const orders = sum(asked.map((row) => row.orders)) + 6;
  const requests = sum(asked.map((row) => row.requests)) + 3 * orders + maxProductPages;
  return { left: rows.length - asked.length, orders, requests, uploads: sum(asked.map((row) => row.uploads)) };
}
