import { RequestValidationError } from "../errors/validation.ts";

/** All kinds of references. Each kind is also the prefix of its references (specification 2.1). */
export const referenceKinds = [
  "Address",
  "Account",
  "Brand",
  "Claim",
  "Claimcategory",
  "Evidence",
  "Image",
  "Packaging",
  "Perspective",
  "Product",
  "Productgroup",
  "Render",
  "Scene",
  "Store",
  "Shipment",
  "Order",
  "Item",
  "Composition",
  "Key",
] as const;

/** The kind of a reference, which is its prefix (specification 2.1). */
export type ReferenceKind = (typeof referenceKinds)[number];

/**
 * A reference of one kind: the prefix, `_` and 26 characters (specification 2.1). The compiler rejects a reference of another kind.
 * Convert a string with `parseReference` or `isReference`.
 */
export type Reference<Kind extends ReferenceKind = ReferenceKind> = `${Kind}_${string}`;

/** The reference of an address (specification 2.3). */
export type AddressReference = Reference<"Address">;
/** The reference of an account, a billing entity (specification 1). */
export type AccountReference = Reference<"Account">;
/** The reference of a brand (specification 1). */
export type BrandReference = Reference<"Brand">;
/** The reference of a claim (specification 2.8). */
export type ClaimReference = Reference<"Claim">;
/** The reference of a claim category (specification 2.8). */
export type ClaimcategoryReference = Reference<"Claimcategory">;
/** The reference of an uploaded photo for a claim (specification 2.7). */
export type EvidenceReference = Reference<"Evidence">;
/** The reference of a print image (specification 2.7). */
export type ImageReference = Reference<"Image">;
/** The reference of a packaging option (specification 2.1). */
export type PackagingReference = Reference<"Packaging">;
/** The reference of a perspective, a camera on a scene or a product (specification 2.9). */
export type PerspectiveReference = Reference<"Perspective">;
/** The reference of a product, an orderable catalog entry (specification 2.6). */
export type ProductReference = Reference<"Product">;
/** The reference of a productgroup (specification 1). */
export type ProductgroupReference = Reference<"Productgroup">;
/** The reference of a render (specification 2.9). */
export type RenderReference = Reference<"Render">;
/** The reference of a scene (specification 2.9). */
export type SceneReference = Reference<"Scene">;
/** The reference of a store (specification 1). */
export type StoreReference = Reference<"Store">;
/** The reference of a shipment (specification 2.10). */
export type ShipmentReference = Reference<"Shipment">;
/** The reference of an order (specification 2.4). */
export type OrderReference = Reference<"Order">;
/** The reference of a warehouse item (specification 2.10). */
export type ItemReference = Reference<"Item">;
/** The reference of a composition of scene, product and perspective (specification 2.9). */
export type CompositionReference = Reference<"Composition">;

/** The characters allowed after the prefix (specification 2.1). */
export const referenceAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const patterns = Object.fromEntries(
  referenceKinds.map((kind) => [kind, new RegExp(`^${kind}_[${referenceAlphabet}]{26}$`)]),
) as Record<ReferenceKind, RegExp>;

/** The pattern of one kind (specification 2.1). */
export const referencePattern = (kind: ReferenceKind): RegExp => patterns[kind];

/**
 * Checks whether a value is a reference of the given kind, and narrows its type (specification 2.1). Never throws.
 *
 * @example
 * if (isReference("Order", row.reference)) await partner.orders.get(row.reference);
 */
export function isReference<Kind extends ReferenceKind>(kind: Kind, text: unknown): text is Reference<Kind> {
  return (
    typeof text === "string" && typeof kind === "string" && Object.hasOwn(patterns, kind) && patterns[kind].test(text)
  );
}

/** Says why a value is not a reference of `kind`; undefined if it is one. */
export function referenceFault(kind: ReferenceKind, text: unknown): string | undefined {
  if (isReference(kind, text)) return undefined;
  if (text === undefined) return `is required: a reference of kind ${kind}`;
  const wanted = `expected a reference of kind ${kind}: "${kind}_" and 26 characters of ${referenceAlphabet}`;
  const other = referenceKinds.find((candidate) => isReference(candidate, text));
  if (other !== undefined) return `${wanted}; got a reference of kind ${other}`;
  if (typeof text !== "string") return `${wanted}; got ${text === null ? "null" : typeof text}`;
  if (text.startsWith(`${kind}_`) && text.length !== kind.length + 27) {
    return `${wanted}; got ${text.length - kind.length - 1} characters`;
  }
  return wanted;
}

/**
 * Checks that a text is a reference of the given kind and returns it with that type (specification 2.1). Use it for strings from a
 * database or a form.
 *
 * @throws {@link RequestValidationError} if the text is not a reference of that kind. The message names the kind that it has instead.
 * @example
 * const order = await partner.orders.get(parseReference("Order", row.orderReference));
 */
export function parseReference<Kind extends ReferenceKind>(kind: Kind, text: string): Reference<Kind> {
  if (isReference(kind, text)) return text;
  const kinds: readonly unknown[] = referenceKinds;
  if (!kinds.includes(kind)) {
    const message = `expected one of ${referenceKinds.join(", ")}`;
    throw new RequestValidationError({ issues: [{ path: ["kind"], message }], value: "reference" });
  }
  const message = referenceFault(kind, text) ?? "";
  throw new RequestValidationError({ issues: [{ path: [], message }], value: "reference" });
}
