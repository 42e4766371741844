import type {
  ClaimReference,
  EvidenceReference,
  OrderReference,
  PodPartner,
  ProductReference,
  Reference,
  ReferenceKind,
} from "pod-partner";
import { isReference, parseReference } from "pod-partner";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { kinds } from "../conformance/support/endpoints.ts";
import { ref } from "../support/references.ts";

describe("the type of a reference", () => {
  it("is a string with its kind", () => {
    expectTypeOf<OrderReference>().toEqualTypeOf<`Order_${string}`>();
    expectTypeOf<Reference<"Product">>().toEqualTypeOf<ProductReference>();
    expectTypeOf<ProductReference>().not.toExtend<OrderReference>();
    expectTypeOf<"Product_1">().not.toExtend<Reference<"Productgroup">>();
    expectTypeOf<string>().not.toExtend<OrderReference>();
  });

  it("has at least the kinds of the specification", () => {
    expectTypeOf<(typeof kinds)[number]>().toExtend<ReferenceKind>();
  });

  it("is the result of parseReference", () => {
    expectTypeOf(parseReference("Claim", ref("Claim"))).toEqualTypeOf<ClaimReference>();
    // @ts-expect-error this kind does not exist.
    expect(() => parseReference("Invoice", "Invoice_1")).toThrow();
  });

  it("is narrowed by isReference", () => {
    const text: string = ref("Evidence");
    if (!isReference("Evidence", text)) expect.fail("is a reference");
    expectTypeOf(text).toEqualTypeOf<EvidenceReference>();
  });
});

/** For the compiler: none of it is run. */
function neverRun(partner: PodPartner, order: OrderReference, product: ProductReference, text: string) {
  partner.orders.get(order);
  partner.catalog.products.get(product);
  // @ts-expect-error a product is not an order.
  partner.orders.get(product);
  // @ts-expect-error an order is not a product.
  partner.catalog.products.get(order);
  // @ts-expect-error a string may be anything.
  partner.orders.get(text);
  // @ts-expect-error a product is not a claim.
  partner.claims.retract(product);
  // @ts-expect-error an order is not a shipment.
  partner.shipments.get(order);
  // @ts-expect-error an order is not a render.
  partner.renders.media(order);
  // @ts-expect-error a product is not a scene.
  partner.perspectives.list({ sceneReference: product });
  // @ts-expect-error the two are swapped.
  partner.renders.create({ compositionReference: ref("Image"), imageReference: ref("Composition") });
  partner.compositions.lookup({
    sceneReference: ref("Scene"),
    productReference: product,
    // @ts-expect-error an order is not a perspective.
    perspectiveReference: order,
  });
  // @ts-expect-error a look-up needs all three.
  partner.compositions.lookup({ sceneReference: ref("Scene"), productReference: product });
}

it("is checked in the arguments of every call", () => {
  expectTypeOf(neverRun).parameter(0).toEqualTypeOf<PodPartner>();
});
