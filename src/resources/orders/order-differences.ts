import { ApiError } from "../../errors/api.ts";
import { type ComparedLine, type OrderDifference, OrderMismatchError } from "../../errors/orders.ts";
import { type Issue, ResponseValidationError } from "../../errors/validation.ts";
import type { Call } from "../../http/call.ts";
import { nameOf } from "../../http/endpoint.ts";
import { lookUpUntil } from "../../http/look-up.ts";
import type { Send } from "../../http/send.ts";
import type { AddressReference, OrderReference } from "../../references/references.ts";
import { type Address, addressFields } from "../../schemas/address.ts";
import { folded, isAlike } from "../../util/alike.ts";
import { propertyOf } from "../../util/foreign.ts";
import { getAddress } from "../addresses/addresses.ts";
import { getOrder, type Order } from "./orders.endpoints.ts";

/** The parts of an existing order that are compared with the requested order. */
export type CompareMode = "all" | "lines";

/** Lines of an order. The option `body` can put any value into a request. */
type LineList = readonly unknown[];

const annotationsOf = (line: unknown): readonly unknown[] => {
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

/** Compares lines in any order. Lines without an equal line are compared one by one. */
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

/** The digits of a phone number, without the 0 that is not dialed after the country's prefix. */
const digitsOf = (number: string): string => number.replace("(0)", "").replace(/\D/g, "").replace(/^0+/, "");

const isEmptyEqually = (left: string, right: string): boolean => (left === "") === (right === "");

/** The comparisons of fields that a service may write in another form. */
const comparisons: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  email: (left, right) => left.trim().toLowerCase() === right.trim().toLowerCase(),
  // With or without the country's prefix.
  phonenumber: (left, right) => {
    const [one, other] = [digitsOf(left), digitsOf(right)];
    return isEmptyEqually(one, other) && (one.endsWith(other) || other.endsWith(one));
  },
  // As a name or as a code (specification 2.3, rule 2).
  state: (left, right) => {
    const [one, other] = [folded(left), folded(right)];
    return isAlike(left, right) || (isEmptyEqually(one, other) && (one.length === 2) !== (other.length === 2));
  },
};

/** Compares the fields that the service returns. It leaves out their values, which are a customer's personal data. */
function* addressDifferences(existing: Address, requested: unknown): Generator<OrderDifference> {
  for (const field of addressFields) {
    const [left, right] = [existing[field], propertyOf(requested, field)];
    if (typeof left !== "string" || typeof right !== "string") continue;
    const equal = comparisons[field] ?? isAlike;
    if (!equal(left, right)) yield { path: ["dropshipAddress", field], existing: undefined, requested: undefined };
  }
}

/** Fields of a request that the specification does not show in a response, but that a service may return. */
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

/** Throws `OrderMismatchError` if the existing order has other content. */
export async function assertSameOrder(
  call: Call,
  send: Send,
  orderReference: OrderReference,
  sent: { readonly customIdentifier: string; readonly order: unknown },
  comparison: CompareMode,
): Promise<void> {
  const { customIdentifier, order } = sent;
  const given = propertyOf(order, "orderlines");
  const lines: LineList = Array.isArray(given) ? given : [];
  const isWhole = comparison === "all";
  const needs = ["orderlines", ...Object.keys(fieldsOf(undefined, "lines"))];
  if (isWhole) needs.push("dropshipAddressReference");
  // If the request has no annotations, an order without their list is equal.
  if (isWhole && lines.some((line) => annotationsOf(line).length > 0)) needs.push("annotations", "key", "value");
  // Right after its creation, an order can be looked up before it can be read.
  const existing = await lookUpUntil(call, call.core.processingTime, {
    lookUp: (options) => send(getOrder, { path: { orderReference } }, options, { needs, internal: true }),
    isFinal: () => true,
    outcomeOf: () => "compared",
  });
  const { dropshipAddressReference } = existing;
  const address = isWhole && dropshipAddressReference && (await readAddress(call, send, dropshipAddressReference));
  const differences = [
    ...(isWhole ? headDifferences(existing, order) : []),
    ...lineDifferences(existing.orderlines, lines, comparison),
    ...(address ? addressDifferences(address, propertyOf(order, "dropshipAddress")) : []),
  ];
  if (differences.length === 0) return;
  throw new OrderMismatchError({ customIdentifier, existing, requested: lines.filter(isComparedLine), differences });
}

const unknownAddress: Issue = {
  path: ["address"],
  message: "has none of the fields of specification 2.3, so that `ensure` cannot compare it",
};

/** Resolves to undefined if the service does not show the address, or shows it in a form that the SDK does not know. */
async function readAddress(call: Call, send: Send, addressReference: AddressReference): Promise<Address | undefined> {
  try {
    const use = { needs: [], internal: true };
    const { data, response } = await call.lookUp(
      (options) => send(getAddress, { path: { addressReference } }, options, use).withResponse(),
      () => "compared",
    );
    if (addressFields.some((field) => typeof data[field] === "string")) return data;
    const of = { callId: call.id, endpoint: nameOf(getAddress), status: response.status };
    call.core.observer.reportInvalid(of, [], [unknownAddress]);
    return undefined;
  } catch (error) {
    // A replaced address stops resolving (specification 4.4).
    if ((error instanceof ApiError && !error.isRetryable) || error instanceof ResponseValidationError) return undefined;
    throw error;
  }
}

const isComparedLine = (line: unknown): line is ComparedLine =>
  typeof propertyOf(line, "productReference") === "string" && typeof propertyOf(line, "quantity") === "number";
