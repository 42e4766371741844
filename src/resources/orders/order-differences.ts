import type { OrderDifference } from "../../errors/orders.ts";
import { type Address, addressFields } from "../../schemas/address.ts";
import { propertyOf } from "../../util/foreign.ts";
import type { Order } from "./orders.endpoints.ts";

/** What of an existing order is compared with the requested order. */
export type CompareMode = "all" | "lines";

/** Lines of an order. The option `body` can put any value into a request. */
type LineList = readonly unknown[];

const annotationsOf = (line: unknown): unknown => {
  const annotations = propertyOf(line, "annotations");
  if (!Array.isArray(annotations)) return [];
  return annotations.map((entry) => ({ key: propertyOf(entry, "key"), value: propertyOf(entry, "value") }));
};

/** The compared fields of a line, each with the value that an absent field has. */
const fieldsOf = (line: unknown, comparison: CompareMode): Readonly<Record<string, unknown>> => ({
  productReference: propertyOf(line, "productReference"),
  imageReference: propertyOf(line, "imageReference") ?? null,
  quantity: propertyOf(line, "quantity"),
  ...(comparison === "all" && { annotations: annotationsOf(line) }),
});

/** Compares lines in any sequence. Lines that have no equal are compared one by one. */
function* lineDifferences(
  existing: LineList,
  requested: LineList,
  comparison: CompareMode,
): Generator<OrderDifference> {
  const entriesOf = (lines: LineList) =>
    lines.map((line, position) => {
      const fields = fieldsOf(line, comparison);
      return { position, fields, key: JSON.stringify(fields) };
    });
  const others = Map.groupBy(entriesOf(existing), ({ key }) => key);
  const wanted = entriesOf(requested).filter(({ key }) => others.get(key)?.pop() === undefined);
  const found = [...others.values()].flat().sort((left, right) => left.position - right.position);
  for (let pair = 0; pair < Math.max(found.length, wanted.length); pair++) {
    const [left, right] = [found[pair], wanted[pair]];
    const line = ["orderlines", (right ?? left)?.position ?? 0];
    if (left === undefined || right === undefined) {
      yield { path: line, existing: left?.fields, requested: right?.fields };
      continue;
    }
    for (const [field, value] of Object.entries(left.fields)) {
      const other = right.fields[field];
      if (JSON.stringify(value) !== JSON.stringify(other))
        yield { path: [...line, field], existing: value, requested: other };
    }
  }
}

/** A text without what a service may write differently: case, accents, spaces and punctuation. */
const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

const isEmptyEqually = (left: string, right: string): boolean => (left === "") === (right === "");

/** How fields are compared that a service may write in another form. */
const comparisons: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  email: (left, right) => left.trim().toLowerCase() === right.trim().toLowerCase(),
  // With or without the prefix of the country.
  phonenumber: (left, right) => {
    const [one, other] = [left, right].map((number) => number.replace(/\D/g, "").replace(/^0+/, ""));
    return (
      isEmptyEqually(one ?? "", other ?? "") && (one?.endsWith(other ?? "") || other?.endsWith(one ?? "")) === true
    );
  },
  // As a name or as a code (specification 2.3, rule 2).
  state: (left, right) => {
    const [one, other] = [folded(left), folded(right)];
    return one === other || (isEmptyEqually(one, other) && (one.length === 2) !== (other.length === 2));
  },
};

/** Compares the fields that the service returns. The values are left out: they are a customer's personal data. */
function* addressDifferences(existing: Address, requested: unknown): Generator<OrderDifference> {
  for (const field of addressFields) {
    const [left, right] = [existing[field], propertyOf(requested, field)];
    if (typeof left !== "string" || typeof right !== "string") continue;
    const equal = comparisons[field] ?? ((one: string, other: string) => folded(one) === folded(other));
    if (!equal(left, right)) yield { path: ["dropshipAddress", field], existing: undefined, requested: undefined };
  }
}

/** Fields of a request that the specification does not show in a response. A service may return them. */
const echoed = ["storeReference", "shippingKind", "dropshipMinimalShippingLevel"] as const;

function* headDifferences(existing: Order, requested: unknown): Generator<OrderDifference> {
  for (const field of echoed) {
    const [left, right] = [propertyOf(existing, field), propertyOf(requested, field)];
    if (typeof left === "string" && typeof right === "string" && left !== right)
      yield { path: [field], existing: left, requested: right };
  }
  const wanted = propertyOf(requested, "shippingKind");
  if (propertyOf(existing, "shippingKind") !== undefined) return;
  // Only a dropship order has an address (specification 2.4).
  const { dropshipAddressReference: address } = existing;
  if (address && wanted === "combined") yield { path: ["shippingKind"], existing: "dropship", requested: wanted };
  if (address === null && wanted === "dropship")
    yield { path: ["shippingKind"], existing: "combined", requested: wanted };
}

/**
 * What differs between an existing order and the content of a request. An address is compared if it could be read.
 */
export function differencesOf(
  existing: Order,
  address: Address | undefined,
  requested: unknown,
  comparison: CompareMode,
): readonly OrderDifference[] {
  const lines = propertyOf(requested, "orderlines");
  const ofLines = lineDifferences(existing.orderlines, Array.isArray(lines) ? lines : [], comparison);
  if (comparison === "lines") return [...ofLines];
  const ofAddress = address === undefined ? [] : addressDifferences(address, propertyOf(requested, "dropshipAddress"));
  return [...headDifferences(existing, requested), ...ofLines, ...ofAddress];
}
