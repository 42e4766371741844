import { OutcomeUnknownError, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { createHastyClock } from "../support/hasty-clock.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};
const down = { status: 503, body: { code: "down", message: "later" } };

describe("a creation whose first answer was lost, and that no look-up finds", () => {
  const context = useService();

  /** The service answers the creations in turn, and knows of no order. */
  async function place(...creations: readonly { status: number; body: object }[]): Promise<unknown> {
    const left = [...creations];
    context.service.always(({ method }) =>
      method === "POST"
        ? (left.shift() ?? down)
        : { status: 404, body: { code: "not_found", message: "no such order" } },
    );
    const retry = { retries: 3, baseDelay: 0, maxRetryAfter: 0 };
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      retry,
      timeout: 400,
      clock: createHastyClock(450),
    });
    return partner.orders.create(order).catch((error: unknown) => error);
  }

  it.each([401, 403, 409])(
    "is unknown when it is then refused with %d, which says nothing of the first",
    async (status) => {
      const error = await place(down, { status, body: { code: "refused", message: "no" } });
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" }, cause: { status } });
    },
  );

  it.each([400, 410, 422])(
    "is unknown when it is then refused with %d and a code that may mean that it is there already",
    async (status) => {
      const error = await place(down, { status, body: { code: "custom_identifier_not_unique", message: "no" } });
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" }, cause: { status } });
    },
  );

  it.each([404, 413])("is unknown when somebody between answers with %d, and no error object", async (status) => {
    expect(await place(down, { status, body: {} })).toBeInstanceOf(OutcomeUnknownError);
  });

  it("is refused when the second says that the input is wrong, as it was the first time", async () => {
    expect(await place(down, { status: 400, body: { code: "product_not_orderable", message: "no" } })).toMatchObject({
      name: "BadRequestError",
      code: "product_not_orderable",
    });
  });

  it("ends as unknown when nothing but lost answers comes, after as many attempts as the options say", async () => {
    expect(await place()).toBeInstanceOf(OutcomeUnknownError);
    expect(context.service.requests.filter(({ method }) => method === "POST")).toHaveLength(4);
  });
});
