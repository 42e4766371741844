import type { Annotation, OrderInput, OrderReference, PodPartner, QuoteInput, ShippingOption } from "pod-partner";
import { describe, expectTypeOf, it } from "vitest";
import type { QuoteLineInput } from "../../src/resources/orders/orders.endpoints.ts";
import { combinedOrder, dropshipOrder, sentAddress } from "../support/orders.ts";
import { ref } from "../support/references.ts";

type Orders = PodPartner["orders"];
type Combined = Extract<OrderInput, { readonly shippingKind: "combined" }>;
type Dropship = Extract<OrderInput, { readonly shippingKind: "dropship" }>;

/** For the compiler: none of it is run. */
function neverRun(orders: Orders) {
  orders.create(dropshipOrder);
  orders.create(combinedOrder);
  // @ts-expect-error a combined order has no address.
  orders.create({ ...combinedOrder, dropshipAddress: dropshipOrder.dropshipAddress });
  // @ts-expect-error a combined order has no shipping level.
  orders.create({ ...combinedOrder, dropshipMinimalShippingLevel: "basic" });
  const { dropshipAddress: _, ...homeless } = dropshipOrder;
  // @ts-expect-error a dropship order has an address.
  orders.create(homeless);
  // @ts-expect-error this level does not exist.
  orders.create({ ...dropshipOrder, dropshipMinimalShippingLevel: "drone" });
  // @ts-expect-error this field does not exist.
  orders.create({ ...combinedOrder, brandReference: ref("Brand") });
  const { zipcode, ...withoutZipcode } = dropshipOrder.dropshipAddress;
  // @ts-expect-error the fields that a parcel needs are required.
  orders.create({ ...dropshipOrder, dropshipAddress: withoutZipcode });
  orders.create({ ...dropshipOrder, dropshipAddress: { ...withoutZipcode, zipcode: "" } });
  // @ts-expect-error each field is required, because the address replaces the old one entirely.
  orders.replaceDropshipAddress(ref("Order"), { countryCode: "NL", email: "ada@example.com", housenumber: "2" });
  // @ts-expect-error the address of an order may lack fields.
  orders.replaceDropshipAddress(ref("Order"), { ...dropshipOrder.dropshipAddress, zipcode });
  orders.replaceDropshipAddress(ref("Order"), sentAddress);
  // @ts-expect-error a line requires its quantity.
  orders.cancel(ref("Order"), [{ index: 1 }]);
  // @ts-expect-error a quoted line has no image, and a literal may have no other fields.
  const line: QuoteLineInput = { productReference: ref("Product"), imageReference: ref("Image"), quantity: 1 };
  orders.quote({ storeReference: ref("Store"), shippingKind: "combined", orderlines: [line] });
  // A quote needs no e-mail address.
  orders.quote({
    storeReference: ref("Store"),
    shippingKind: "dropship",
    dropshipAddress: { countryCode: "NL" },
    orderlines: [],
  });
}

describe("the types of orders", () => {
  it("refuse what the specification refuses", () => {
    expectTypeOf(neverRun).parameter(0).toEqualTypeOf<Orders>();
  });

  it("give a combined order no address and no shipping level", () => {
    expectTypeOf<Combined["dropshipAddress"]>().toEqualTypeOf<undefined>();
    expectTypeOf<Combined["dropshipMinimalShippingLevel"]>().toEqualTypeOf<undefined>();
    expectTypeOf<Dropship["dropshipAddress"]>().not.toExtend<undefined>();
    expectTypeOf<Dropship["dropshipAddress"]["email"]>().toEqualTypeOf<string>();
  });

  it("make the custom identifier, the image and the annotations optional", () => {
    expectTypeOf<OrderInput["customIdentifier"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<OrderInput["orderlines"][number]["annotations"]>().toEqualTypeOf<readonly Annotation[] | undefined>();
    expectTypeOf<OrderInput["orderlines"][number]["quantity"]>().toEqualTypeOf<number>();
  });

  it("have the three strict shipping levels", () => {
    expectTypeOf<ShippingOption["level"]>().toEqualTypeOf<"basic" | "tracked" | "express">();
    expectTypeOf<Dropship["dropshipMinimalShippingLevel"]>().toEqualTypeOf<
      "basic" | "tracked" | "express" | undefined
    >();
  });

  it("describe the result of a creation", () => {
    type Created = Awaited<ReturnType<Orders["create"]>>;
    expectTypeOf<Created["reference"]>().toEqualTypeOf<OrderReference>();
    expectTypeOf<Created["customIdentifier"]>().toEqualTypeOf<string>();
    expectTypeOf<Created["recovered"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Awaited<ReturnType<Orders["ensure"]>>>().toEqualTypeOf<Created>();
  });

  it("are void for a cancellation and a replaced address, and a reference for a look-up", () => {
    expectTypeOf<Awaited<ReturnType<Orders["cancel"]>>>().toEqualTypeOf<void>();
    expectTypeOf<Awaited<ReturnType<Orders["replaceDropshipAddress"]>>>().toEqualTypeOf<void>();
    expectTypeOf<Awaited<ReturnType<Orders["lookup"]>>>().toEqualTypeOf<OrderReference>();
    expectTypeOf<Awaited<ReturnType<Orders["quote"]>>>().toEqualTypeOf<readonly ShippingOption[]>();
  });

  it("accept a quote by its shipping kind", () => {
    expectTypeOf<QuoteInput["shippingKind"]>().toEqualTypeOf<"dropship" | "combined">();
  });
});
