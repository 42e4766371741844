import { expect, it } from "vitest";
import { scanned } from "../../support/scanned.ts";
import { address, type Bench, setUp } from "../support.ts";

type Send = () => Promise<{ readonly status: number }>;

/** The elements of lists that one request searches through. */
async function searched(orders: number, prepare: (bench: Bench, orders: number) => Promise<Send>): Promise<number> {
  const send = await prepare(setUp({ seed: { orders }, pageSize: 100 }), orders);
  return scanned(async () => expect((await send()).status).toBeLessThan(300));
}

const lookup = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=seed-";

it.each([
  [
    "a look-up by identifier",
    async ({ get }: Bench, orders: number): Promise<Send> =>
      () =>
        get(lookup + orders),
  ],
  [
    "a replacement of an address",
    async ({ get, put }: Bench): Promise<Send> => {
      const { orders } = (await get("/orders")).body;
      return () => put(`/orders/${orders[0].reference}/dropship-address`, { dropshipAddress: address });
    },
  ],
])("%s searches through no more with 50,000 orders than with 100", async (_name, prepare) => {
  expect(await searched(50_000, prepare)).toBeLessThan((await searched(100, prepare)) + 100);
});
