import { memoryStorage, type OrderReference, PodPartner, type ProductReference } from "pod-partner";
import { createOrderFollower, createOrderUpdatedReceiver, type Reconciled } from "pod-partner/callbacks";
import { expect, expectTypeOf, it } from "vitest";
import type { FollowedOrder, OrderChange } from "../../src/callbacks/order-state.ts";
import { ref } from "../support/references.ts";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

it("a follower takes a client, and hands over each change with its own fields", async () => {
  const follower = createOrderFollower({
    partner,
    storage: memoryStorage(),
    onChange: ({ order, previous, changes, signal }) => {
      expectTypeOf(order.reference).toEqualTypeOf<OrderReference>();
      expectTypeOf(previous).toEqualTypeOf<FollowedOrder | undefined>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      for (const change of changes) {
        expectTypeOf(change).toEqualTypeOf<OrderChange>();
        if (change.kind === "shipped") expectTypeOf(change.to).toEqualTypeOf<number>();
        if (change.kind === "held") expectTypeOf(change.reason).toEqualTypeOf<string>();
        // @ts-expect-error: a hold has no index.
        if (change.kind === "held") expect(change.index).toBeUndefined();
      }
    },
  });
  expectTypeOf(follower.reconcile).returns.resolves.toEqualTypeOf<Reconciled>();
  expectTypeOf(follower.update).parameters.toEqualTypeOf<[OrderReference]>();
  createOrderUpdatedReceiver({
    partner,
    token: false,
    onOrderUpdated: ({ orderReference }) => follower.update(orderReference),
  });
  // @ts-expect-error: a product is not followed.
  const refused = follower.follow(ref("Product", "1") satisfies ProductReference);
  await expect(refused).rejects.toThrow("Order");
  // @ts-expect-error: a sweep has no deadline.
  await expect(follower.reconcile({ deadline: 1 })).rejects.toThrow("deadline");
});

it("a follower takes no double of a client: its type refuses what the run time refuses", () => {
  const double = { orders: { get: partner.orders.get.bind(partner.orders) } };
  // @ts-expect-error: a double does not name its part of the storage.
  expect(() => createOrderFollower({ partner: double, storage: memoryStorage(), onChange: () => undefined })).toThrow(
    "expected a client",
  );
});
