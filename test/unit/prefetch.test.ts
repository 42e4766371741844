import { PodPartner } from "pod-partner";
import { expect, it } from "vitest";
import { ref } from "../support/references.ts";

it("requests the next page before the caller works on the first item, which may block the thread", async () => {
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    const orders = [{ reference: ref("Order", String(asked)) }];
    return Response.json({ orders, nextCursor: asked < 5 ? `page ${asked}` : null });
  };
  const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key", fetch });
  const seen: number[] = [];
  for await (const _ of partner.orders.list()) seen.push(asked);
  expect(seen).toEqual([2, 3, 4, 5, 5]);
});
