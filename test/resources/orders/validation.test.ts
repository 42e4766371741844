import type { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { combinedOrder, dropshipOrder, sentAddress } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";
import { type Refusal, useRefusals } from "../../support/refusals.ts";

type Partner = PodPartner;
const create = (changes: object) => (partner: Partner) =>
  partner.orders.create({ ...dropshipOrder, ...changes } as never);
const address = (changes: object) => create({ dropshipAddress: { ...dropshipOrder.dropshipAddress, ...changes } });
const [line] = dropshipOrder.orderlines;
const withLine = (changes: object) => create({ orderlines: [{ ...line, ...changes }] });
const annotations = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: "v" }));
const replace = (changes: object) => (partner: Partner) =>
  partner.orders.replaceDropshipAddress(ref("Order"), { ...sentAddress, ...changes } as never);
const quote = (changes: object) => (partner: Partner) =>
  partner.orders.quote({
    storeReference: ref("Store"),
    shippingKind: "dropship",
    dropshipAddress: { countryCode: "NL" },
    orderlines: [{ productReference: ref("Product"), quantity: 1 }],
    ...changes,
  } as never);
const cancel = (lines: unknown) => (partner: Partner) => partner.orders.cancel(ref("Order"), lines as never);

/** The fields that a parcel needs. The specification shows which fields there are (2.3), but not which must be present. */
const neededByParcel = ["firstname", "lastname", "streetname", "zipcode", "city"];

const lines = ["order", "orderlines"] as const;
const to = ["order", "dropshipAddress"] as const;

describe("an order is checked before it is sent (specification 2.3, 2.4, 2.5)", () => {
  const { refuses, accepts } = useRefusals();

  refuses([
    ["a brand as the store", create({ storeReference: ref("Brand") }), [["order", "storeReference"]]],
    [
      "a lone surrogate in a custom identifier, which no URL can contain",
      create({ customIdentifier: "shop-\ud83d" }),
      [["order", "customIdentifier"]],
    ],
    ["no store", create({ storeReference: undefined }), [["order", "storeReference"]]],
    ["an unknown field", create({ brandReference: ref("Brand") }), [["order", "brandReference"]]],
    ["an unknown shipping kind", create({ shippingKind: "teleport" }), [["order", "shippingKind"]]],
    ["no shipping kind", create({ shippingKind: undefined }), [["order", "shippingKind"]]],
    [
      "an unknown shipping level",
      create({ dropshipMinimalShippingLevel: "drone" }),
      [["order", "dropshipMinimalShippingLevel"]],
    ],
    ["a custom identifier that is a number", create({ customIdentifier: 1001 }), [["order", "customIdentifier"]]],
    ["null as the custom identifier", create({ customIdentifier: null }), [["order", "customIdentifier"]]],
    ...[null, 1001, "", "shop-\ud83d"].flatMap((customIdentifier): Refusal[] => [
      [
        `${JSON.stringify(customIdentifier)} for a custom identifier in the option \`body\` of create`,
        (partner) => partner.orders.create(combinedOrder, { body: { order: { customIdentifier } } }),
        [["body", "order", "customIdentifier"]],
      ],
      [
        `${JSON.stringify(customIdentifier)} for a custom identifier in the option \`body\` of ensure`,
        (partner) =>
          partner.orders.ensure(
            { ...combinedOrder, customIdentifier: "shop-1" },
            { body: { order: { customIdentifier } } },
          ),
        [["body", "order", "customIdentifier"]],
      ],
    ]),
    ["no orderlines", create({ orderlines: undefined }), [lines]],
    ["an empty list of orderlines", create({ orderlines: [] }), [lines]],
    ["orderlines that are not a list", create({ orderlines: { 0: line } }), [lines]],
    ["an image as the product", withLine({ productReference: ref("Image") }), [[...lines, 0, "productReference"]]],
    ["a product as the image", withLine({ imageReference: ref("Product") }), [[...lines, 0, "imageReference"]]],
    ["an unknown orderline field", withLine({ colour: "red" }), [[...lines, 0, "colour"]]],
    ["an eleventh annotation", withLine({ annotations: annotations(11) }), [[...lines, 0, "annotations"]]],
    [
      "an annotation whose value is a number",
      withLine({ annotations: [{ key: "a", value: 5 }] }),
      [[...lines, 0, "annotations", 0, "value"]],
    ],
    [
      "an annotation without a key",
      withLine({ annotations: [{ value: "a" }] }),
      [[...lines, 0, "annotations", 0, "key"]],
    ],
    [
      "an annotation with an unknown field",
      withLine({ annotations: [{ key: "a", value: "b", note: "c" }] }),
      [[...lines, 0, "annotations", 0, "note"]],
    ],
    ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "2", null, undefined].map(
      (quantity) =>
        [
          `a quantity of ${JSON.stringify(quantity)} (${quantity})`,
          withLine({ quantity }),
          [[...lines, 0, "quantity"]],
        ] as const,
    ),
  ]);

  refuses([
    ["no address", create({ dropshipAddress: undefined }), [to]],
    ["an address that is a reference", create({ dropshipAddress: ref("Address") }), [to]],
    ["no e-mail address", address({ email: undefined }), [[...to, "email"]]],
    ["an empty e-mail address", address({ email: "" }), [[...to, "email"]]],
    ["a blank e-mail address", address({ email: "  " }), [[...to, "email"]]],
    ["no state for the United States", address({ countryCode: "US" }), [[...to, "state"]]],
    ["no state for Italy", address({ countryCode: "IT" }), [[...to, "state"]]],
    ["an empty state for the United States", address({ countryCode: "US", state: "" }), [[...to, "state"]]],
    ["a blank state for Italy", address({ countryCode: "IT", state: " " }), [[...to, "state"]]],
    ["a country in lower case", address({ countryCode: "nl" }), [[...to, "countryCode"]]],
    ["a country of three letters", address({ countryCode: "NLD" }), [[...to, "countryCode"]]],
    ["a country with a line break after it", address({ countryCode: "NL\n" }), [[...to, "countryCode"]]],
    ["no country", address({ countryCode: undefined }), [[...to, "countryCode"]]],
    ["a house number of type number", address({ housenumber: 12 }), [[...to, "housenumber"]]],
    ["null as the company", address({ company: null }), [[...to, "company"]]],
    ["an unknown address field", address({ street: "Kade" }), [[...to, "street"]]],
    ...neededByParcel.map((field): Refusal => [`no ${field}`, address({ [field]: undefined }), [[...to, field]]]),
    [
      "an address on a combined order",
      (partner) => partner.orders.create({ ...combinedOrder, dropshipAddress: dropshipOrder.dropshipAddress } as never),
      [to],
    ],
    [
      "a shipping level on a combined order",
      (partner) => partner.orders.create({ ...combinedOrder, dropshipMinimalShippingLevel: "basic" } as never),
      [["order", "dropshipMinimalShippingLevel"]],
    ],
  ]);

  accepts([
    ["a state for the United States", address({ countryCode: "US", state: "NY" })],
    ["a state by its full name", address({ countryCode: "IT", state: "Lombardia" })],
    ["no state for the Netherlands", address({ countryCode: "NL" })],
    ...neededByParcel.map((field) => [`an empty ${field}`, address({ [field]: "" })] as const),
    ["only the fields that a parcel needs", address({ housenumber: undefined })],
    ["ten annotations", withLine({ annotations: annotations(10) })],
    ["no annotations", withLine({ annotations: [] })],
    ["no image", withLine({ imageReference: undefined })],
    ["no shipping level", create({ dropshipMinimalShippingLevel: undefined })],
  ]);
});

describe("all faults of an order are reported at once", () => {
  const { refuses } = useRefusals();

  refuses([
    [
      "faults in every part",
      create({
        storeReference: ref("Brand"),
        surprise: true,
        dropshipAddress: { ...sentAddress, countryCode: "US", street: "Kade", email: undefined },
        orderlines: [
          { ...line, quantity: 0 },
          { ...line, imageReference: "x", annotations: annotations(11) },
        ],
      }),
      [
        ["order", "storeReference"],
        ["order", "surprise"],
        [...to, "street"],
        [...to, "email"],
        [...to, "state"],
        [...lines, 0, "quantity"],
        [...lines, 1, "imageReference"],
        [...lines, 1, "annotations"],
      ],
    ],
    [
      "an unknown shipping kind, beside other faults",
      create({ shippingKind: "teleport", storeReference: ref("Brand"), orderlines: [] }),
      [["order", "shippingKind"], ["order", "storeReference"], lines],
    ],
    [
      "the wrong kind of reference in the path, beside an invalid body",
      (partner) => partner.orders.cancel(ref("Claim") as never, [{ index: 0, canceledQuantity: 1 }]),
      [["orderReference"], ["orderlines", 0, "index"]],
    ],
  ]);
});

describe("changes and quotes of an order are checked before they are sent (specification 4.7)", () => {
  const { context, refuses, accepts } = useRefusals();

  refuses([
    ["orders.get with a claim", (partner) => partner.orders.get(ref("Claim") as never), [["orderReference"]]],
    ["a cancellation without lines", cancel([]), [["orderlines"]]],
    [
      "two cancellations of a line",
      cancel([1, 2, 1].map((index, canceledQuantity) => ({ index, canceledQuantity }))),
      [["orderlines", 2, "index"]],
    ],
    ["a cancellation of line 0", cancel([{ index: 0, canceledQuantity: 1 }]), [["orderlines", 0, "index"]]],
    ["a cancellation of line 1.5", cancel([{ index: 1.5, canceledQuantity: 1 }]), [["orderlines", 0, "index"]]],
    [
      "a cancellation of a negative quantity",
      cancel([{ index: 1, canceledQuantity: -1 }]),
      [["orderlines", 0, "canceledQuantity"]],
    ],
    [
      "a cancellation of a fractional quantity",
      cancel([{ index: 1, canceledQuantity: 0.5 }]),
      [["orderlines", 0, "canceledQuantity"]],
    ],
    ["a cancellation without a quantity", cancel([{ index: 1 }]), [["orderlines", 0, "canceledQuantity"]]],
    [
      "a cancellation with an unknown field",
      cancel([{ index: 1, canceledQuantity: 1, quantity: 1 }]),
      [["orderlines", 0, "quantity"]],
    ],
    ["a replacement without a state in Italy", replace({ countryCode: "IT" }), [["dropshipAddress", "state"]]],
    ...Object.keys(sentAddress).map(
      (field): Refusal => [
        `a replacement without ${field}`,
        replace({ [field]: undefined }),
        [["dropshipAddress", field]],
      ],
    ),
    ["a replacement with an unknown field", replace({ reference: ref("Address") }), [["dropshipAddress", "reference"]]],
    [
      "a replacement for a reference of another kind",
      (partner) => partner.orders.replaceDropshipAddress(ref("Store") as never, sentAddress),
      [["orderReference"]],
    ],
    [
      "a quote with an image",
      quote({ orderlines: [line] }),
      [
        ["quote", "orderlines", 0, "imageReference"],
        ["quote", "orderlines", 0, "annotations"],
      ],
    ],
    ["a quote with a custom identifier", quote({ customIdentifier: "a" }), [["quote", "customIdentifier"]]],
    [
      "a quote with a country in lower case",
      quote({ dropshipAddress: { countryCode: "nl" } }),
      [["quote", "dropshipAddress", "countryCode"]],
    ],
    ["a dropship quote without an address", quote({ dropshipAddress: undefined }), [["quote", "dropshipAddress"]]],
    ["a quote without lines", quote({ orderlines: [] }), [["quote", "orderlines"]]],
    ["a combined quote with an address", quote({ shippingKind: "combined" }), [["quote", "dropshipAddress"]]],
    [
      "a look-up of a lone surrogate",
      (partner) => partner.orders.lookup({ customIdentifier: "shop-\ud83d" }),
      [["customIdentifier"]],
    ],
    [
      "a look-up with an option in place of a field",
      (partner) => partner.orders.lookup({ customIdentifier: "shop-1", timeout: 5 } as never),
      [["timeout"]],
    ],
    [
      "a look-up of an empty custom identifier",
      (partner) => partner.orders.lookup({ customIdentifier: "" }),
      [["customIdentifier"]],
    ],
  ]);

  accepts([
    ["a cancellation of 0, which is an absolute total", cancel([{ index: 1, canceledQuantity: 0 }])],
    ["a replacement with empty fields", replace({ ...Object.fromEntries(neededByParcel.map((field) => [field, ""])) })],
    ["a quote for a country alone", quote({})],
  ]);

  it("says how to write a field that an address does not have", async () => {
    const { zipcode: _, ...without } = sentAddress;
    const error = await rejection(context.partner.orders.replaceDropshipAddress(ref("Order"), without as never));
    expect(error).toMatchObject({
      message: expect.stringContaining('dropshipAddress.zipcode: is missing: set it, or `""` if the address has none'),
    });
  });

  it("orders.ensure sends no look-up for an invalid order", async () => {
    const call = context.partner.orders.ensure({ ...dropshipOrder, orderlines: [] });
    await expect(Promise.resolve(call)).rejects.toMatchObject({ name: "RequestValidationError" });
    expect(context.service.requests).toHaveLength(0);
  });
});
