import type {
  CompletedMockup,
  GoneError,
  IdentifiedOrderInput,
  MockupInput,
  NotFoundError,
  PlacedOrder,
  PodPartner,
  RenderedMockup,
  RenderFailedError,
  RenderInput,
  RendertokenLimitError,
  SavedMockup,
  TokenBudgetError,
} from "pod-partner";
import { describe, expectTypeOf, it } from "vitest";

type OutcomeOf<Outcomes> = Outcomes extends AsyncIterable<infer One> ? One : never;
type Placed<Outcome> = Extract<Outcome, { ok: true }> extends { value: infer Value } ? Value : never;

interface Row {
  readonly sku: string;
  readonly order: IdentifiedOrderInput;
  readonly render: RenderInput;
}

/** For the compiler: none of it is run. */
function neverRun(
  { orders, renders }: PodPartner,
  rows: AsyncIterable<Row>,
  orderRows: readonly (IdentifiedOrderInput & { readonly sku: string })[],
  renderRows: readonly (RenderInput & { readonly sku?: string })[],
  inputs: Iterable<RenderInput>,
  mockups: AsyncIterable<MockupInput>,
) {
  // @ts-expect-error a row with a field of its own needs `map`.
  orders.ensureMany(orderRows);
  // @ts-expect-error a row with a field of its own needs `map`, though the field may be missing.
  renders.batch(renderRows);
  // @ts-expect-error a row that is not an order needs `map`.
  orders.ensureMany(rows);
  // @ts-expect-error `map` returns an order.
  orders.ensureMany(rows, { map: ({ render }) => render });
  // @ts-expect-error each order of many needs an identifier of its own.
  orders.ensureMany(rows, { map: async ({ order: { customIdentifier: _, ...order } }) => order });
  // @ts-expect-error this option does not exist.
  renders.batch(inputs, { concurency: 2 });
  // @ts-expect-error a composition has a reference or parts, not both.
  renders.batch([{ compositionReference: "Composition_1", sceneReference: "Scene_1", imageReference: "Image_1" }]);
  // @ts-expect-error a combination has three parts.
  renders.batch([{ sceneReference: "Scene_1", imageReference: "Image_1" }]);
  // @ts-expect-error an image has a reference or a source, not both.
  renders.batch([{ compositionReference: "Composition_1", imageReference: "Image_1", image: "design.png" }]);
  // @ts-expect-error `download: true` does not exist.
  renders.batch(inputs, { download: true });
  return {
    saved: renders.batch(rows, { map: ({ render }) => render, download: "mockups" }),
    named: renders.batch(rows, {
      map: ({ render: { compositionReference } }) => ({ compositionReference, image: new Uint8Array() }),
      download: "mockups",
      fileName: ({ sku }, { reference }) => `${sku}-${reference}.png`,
    }),
    left: renders.batch(mockups, { download: false, tokenBudget: 100, retryFailed: true, onProgress: console.log }),
    opened: renders.batch(mockups),
    mapped: orders.ensureMany(rows, { map: ({ order }) => order, concurrency: 2 }),
    later: renders.batch(rows, { map: async ({ render }) => render }),
    inputs: renders.batch(inputs),
    orders: orders.ensureMany(orderRows, { map: ({ sku: _, ...order }) => order, compare: false }),
  };
}
type Made = ReturnType<typeof neverRun>;

describe("the types of outcomes", () => {
  it("contain the row itself", () => {
    expectTypeOf<OutcomeOf<Made["mapped"]>["input"]>().toEqualTypeOf<Row>();
    expectTypeOf<OutcomeOf<Made["later"]>["input"]>().toEqualTypeOf<Row>();
    expectTypeOf<OutcomeOf<Made["orders"]>["input"]["sku"]>().toEqualTypeOf<string>();
    expectTypeOf<OutcomeOf<Made["inputs"]>["input"]>().toEqualTypeOf<RenderInput>();
  });

  it("contain the result", () => {
    expectTypeOf<Placed<OutcomeOf<Made["mapped"]>>>().toEqualTypeOf<PlacedOrder>();
    expectTypeOf<Placed<OutcomeOf<Made["later"]>>>().toEqualTypeOf<RenderedMockup>();
  });

  it("contain what the option `download` gives", () => {
    expectTypeOf<Placed<OutcomeOf<Made["saved"]>>>().toEqualTypeOf<SavedMockup>();
    expectTypeOf<Placed<OutcomeOf<Made["named"]>>>().toEqualTypeOf<SavedMockup>();
    expectTypeOf<Placed<OutcomeOf<Made["left"]>>>().toEqualTypeOf<CompletedMockup>();
    expectTypeOf<Placed<OutcomeOf<Made["opened"]>>>().toEqualTypeOf<RenderedMockup>();
  });

  it("without a mockup have a reason, and the reset of the limit", () => {
    type Limited = Extract<OutcomeOf<Made["left"]>, { reason: "budget" | "weekly-limit" }>;
    type Reason = Extract<OutcomeOf<Made["left"]>, { ok: false }>["reason"];
    expectTypeOf<Limited["resetsAt"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Reason>().toEqualTypeOf<
      "not-found" | "gone" | "render-failed" | "error" | "budget" | "weekly-limit"
    >();
  });

  it("without a mockup have an error of the type that their reason gives", () => {
    type ErrorOf<Reason> = Extract<OutcomeOf<Made["left"]>, { reason: Reason }>["error"];
    expectTypeOf<ErrorOf<"not-found">>().toEqualTypeOf<NotFoundError>();
    expectTypeOf<ErrorOf<"gone">>().toEqualTypeOf<GoneError>();
    expectTypeOf<ErrorOf<"render-failed">>().toEqualTypeOf<RenderFailedError>();
    expectTypeOf<ErrorOf<"budget">>().toEqualTypeOf<TokenBudgetError>();
    expectTypeOf<ErrorOf<"weekly-limit">>().toEqualTypeOf<RendertokenLimitError>();
    // `map` can throw any value.
    expectTypeOf<ErrorOf<"error">>().toBeUnknown();
  });
});
