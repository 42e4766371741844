/** Every kind of reference, by the prefix it carries on the wire (specification 2.1). */
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

/** The prefix of a reference: what it refers to. */
export type ReferenceKind = (typeof referenceKinds)[number];

/** A reference of one kind: its prefix, `_`, and 26 characters. A reference of another kind does not fit at compile time. */
export type Reference<Kind extends ReferenceKind = ReferenceKind> = `${Kind}_${string}`;

export type AddressReference = Reference<"Address">;
export type AccountReference = Reference<"Account">;
export type BrandReference = Reference<"Brand">;
export type ClaimReference = Reference<"Claim">;
export type ClaimcategoryReference = Reference<"Claimcategory">;
export type EvidenceReference = Reference<"Evidence">;
export type ImageReference = Reference<"Image">;
export type PackagingReference = Reference<"Packaging">;
export type PerspectiveReference = Reference<"Perspective">;
export type ProductReference = Reference<"Product">;
export type ProductgroupReference = Reference<"Productgroup">;
export type RenderReference = Reference<"Render">;
export type SceneReference = Reference<"Scene">;
export type StoreReference = Reference<"Store">;
export type ShipmentReference = Reference<"Shipment">;
export type OrderReference = Reference<"Order">;
export type ItemReference = Reference<"Item">;
export type CompositionReference = Reference<"Composition">;
export type KeyReference = Reference<"Key">;

/** The characters a reference's 26 are taken from. */
export const referenceAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const patterns = Object.fromEntries(
  referenceKinds.map((kind) => [kind, new RegExp(`^${kind}_[${referenceAlphabet}]{26}$`)]),
) as Record<ReferenceKind, RegExp>;

/** The pattern of the specification for one kind. */
export const referencePattern = (kind: ReferenceKind): RegExp => patterns[kind];

/**
 * Tells whether a text is a reference of the given kind, and narrows its type.
 *
 * @example
 * if (isReference("Order", row.reference)) await partner.orders.get(row.reference);
 */
export function isReference<Kind extends ReferenceKind>(kind: Kind, text: unknown): text is Reference<Kind> {
  return typeof text === "string" && Object.hasOwn(patterns, kind) && patterns[kind].test(text);
}

/** What is wrong with a text that should be a reference of `kind`, in words that help: nothing when it is one. */
export function referenceFault(kind: ReferenceKind, text: unknown): string | undefined {
  if (isReference(kind, text)) return undefined;
  const wanted = `expected a reference of kind ${kind}: "${kind}_" and 26 characters of ${referenceAlphabet}`;
  const other = referenceKinds.find((candidate) => isReference(candidate, text));
  if (other !== undefined) return `${wanted}; this is a reference of kind ${other}`;
  if (typeof text !== "string") return `${wanted}; got ${text === null ? "null" : typeof text}`;
  if (text.startsWith(`${kind}_`) && text.length !== kind.length + 27) {
    return `${wanted}; this one has ${text.length - kind.length - 1}`;
  }
  return wanted;
}
