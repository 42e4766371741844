import { referenceKinds } from "../../src/references/references.ts";

/** What the examples in doc comments use without declaring it, as declarations. */
const types = {
  partner: 'import("pod-partner").PodPartner',
  emulator: 'import("pod-partner/testing").RunningEmulator',
  baseUrl: "string",
  secretKey: "string",
  design: "Uint8Array",
  photo: "Uint8Array",
  address: 'import("pod-partner").AddressInput',
  order: 'import("pod-partner").IdentifiedOrderInput',
  orders: 'readonly import("pod-partner").IdentifiedOrderInput[]',
  since: 'import("pod-partner").ListSnapshot<import("pod-partner").Product>',
  stock: 'import("pod-partner").ListSnapshot<import("pod-partner").WarehouseItem>',
  shippedOrderReference: 'import("pod-partner").OrderReference',
} as const;

const all = [
  ...Object.entries(types),
  ...referenceKinds.map(
    (kind) => [`${kind.toLowerCase()}Reference`, `import("pod-partner").${kind}Reference`] as const,
  ),
];

/** One line that declares those of the names that an example uses. */
export const declarations = (uses: ReadonlySet<string>): string =>
  all
    .filter(([name]) => uses.has(name))
    .map(([name, type]) => `declare const ${name}: ${type};`)
    .join(" ");
