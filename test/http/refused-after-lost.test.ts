import { OutcomeUnknownError, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { createFastClock } from "../support/fast-clock.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};
const down = { status: 503, body: { code: "down", message: "later" } };

describe("a creation whose first response was lost, and that no look-up finds", () => {
  const context = useService();

  /** The service responds to the creations in turn, and has no order. */
  async function place(...creations: readonly { status: number; body: object }[]): Promise<unknown> {
    const left = [...creations];
    context.service.respondAlways(({ method }) =>
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
      clock: createFastClock(450),
    });
    return partner.orders.create(order).catch((error: unknown) => error);
  }

  it.each([401, 403, 409])(
    "is unknown when the retry is refused with %d, which says nothing about the first attempt",
    async (status) => {
      const error = await place(down, { status, body: { code: "refused", message: "no" } });
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" }, cause: { status } });
    },
  );

  it.each([400, 410, 422])(
    "is unknown when the retry is refused with %d and a code that may mean that it already exists",
    async (status) => {
      const error = await place(down, { status, body: { code: "custom_identifier_not_unique", message: "no" } });
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" }, cause: { status } });
    },
  );

  it.each([404, 413])("is unknown when a gateway responds with %d, without an error object", async (status) => {
    expect(await place(down, { status, body: {} })).toBeInstanceOf(OutcomeUnknownError);
  });

  it("is refused when the retry reports invalid input, which the first attempt had as well", async () => {
    expect(await place(down, { status: 400, body: { code: "product_not_orderable", message: "no" } })).toMatchObject({
      name: "BadRequestError",
      code: "product_not_orderable",
    });
  });

  it("is unknown when every response is lost, after as many attempts as the options allow", async () => {
    expect(await place()).toBeInstanceOf(OutcomeUnknownError);
    expect(context.service.requests.filter(({ method }) => method === "POST")).toHaveLength(4);
  });
});
