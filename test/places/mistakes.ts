/** Typical mistakes of a first integration. Each is the body of a function with `partner` and the constants of `preamble`. */
export const mistakes = {
  "a field of `map` with a typing error": `
    partner.orders.ensureMany(rows, {
      map: ({ id, sku }) => ({ ...rest, customIdentifier: id, dropshipAdress: address, orderlines: [lineOf(sku)] }),
    });`,
  "an order of `map` without an identifier": `
    partner.orders.ensureMany(rows, { map: ({ sku }) => ({ ...rest, dropshipAddress: address, orderlines: [lineOf(sku)] }) });`,
  "a quantity of `map` as a text": `
    partner.orders.ensureMany(rows, {
      map: ({ id }) => ({
        ...rest,
        customIdentifier: id,
        dropshipAddress: address,
        orderlines: [{ productReference, imageReference, quantity: "1" }],
      }),
    });`,
  "a number as the identifier of `map`": `
    partner.orders.ensureMany(rows, {
      map: ({ sku }) => ({ ...rest, customIdentifier: 1001, dropshipAddress: address, orderlines: [lineOf(sku)] }),
    });`,
  "a field of a row that does not exist": `
    partner.orders.ensureMany(rows, {
      map: ({ id, SKU }) => ({ ...rest, customIdentifier: id, dropshipAddress: address, orderlines: [lineOf(SKU)] }),
    });`,
  "rows that are not orders, without `map`": `
    partner.orders.ensureMany(rows);`,
  "rows that are not orders, with an option but without `map`": `
    partner.orders.ensureMany(rows, { concurrency: 4 });`,
  "an option of `ensureMany` with a typing error": `
    partner.orders.ensureMany(orders, { concurency: 4 });`,
  "a mockup of `map` with a typing error": `
    partner.renders.batch(rows, { map: () => ({ compositionReference, imageRef: imageReference }) });`,
  "a mockup of `map` without an image": `
    partner.renders.batch(rows, { map: () => ({ compositionReference }) });`,
  "an option of `batch` with a typing error": `
    partner.renders.batch(mockups, { downlaod: "pictures" });`,
  "a plain text as a reference": `
    partner.orders.get(saved);`,
  "a reference of another kind": `
    partner.orders.get(productReference);`,
  "an identifier with a typing error": `
    partner.orders.create({ ...rest, customidentifier: "1", dropshipAddress: address, orderlines: [] });`,
  "annotations as an object": `
    partner.orders.create({
      ...rest,
      dropshipAddress: address,
      orderlines: [{ productReference, imageReference, quantity: 1, annotations: { note: "red" } }],
    });`,
  "an address without an email": `
    const { email, ...incomplete } = address;
    partner.orders.create({ ...rest, dropshipAddress: incomplete, orderlines: [] });`,
  "a field that the specification does not show": `
    const order = await partner.orders.get("Order_1");
    console.log(order.customIdentifier.length);`,
  "a call without `await`": `
    const order = partner.orders.get("Order_1");
    console.log(order.orderlines);`,
  "an unknown shipping level": `
    partner.orders.create({ ...rest, dropshipAddress: address, dropshipMinimalShippingLevel: "fast", orderlines: [] });`,
  "an option of the client under its old name": `
    new PodPartner({ baseUrl: "https://api.example/v2", secretKey: "secret-key-123", store: memoryStorage() });`,
};

export const preamble = `
import { memoryStorage, type IdentifiedOrderInput, type MockupInput, type OrderlineInput, PodPartner } from "pod-partner";
declare const partner: PodPartner;
declare const rows: readonly { readonly id: string; readonly sku: string }[];
declare const orders: readonly IdentifiedOrderInput[];
declare const mockups: readonly MockupInput[];
declare const saved: string;
declare const lineOf: (sku: string) => OrderlineInput;
const [storeReference, productReference] = ["Store_1", "Product_1"] as const;
const [imageReference, compositionReference] = ["Image_1", "Composition_1"] as const;
const rest = { storeReference, shippingKind: "dropship" } as const;
const address = {
  firstname: "Ada", lastname: "Lovelace", streetname: "Kade", zipcode: "1011", city: "Amsterdam", countryCode: "NL", email: "a@b.example",
} as const;
`;
