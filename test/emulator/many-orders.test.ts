import { expect, it } from "vitest";
import { address, type Bench, setUp } from "./support.ts";

/** Sends the request of a round. */
type Send = (round: number) => Promise<{ readonly status: number }>;

/** The shortest time of a request, in milliseconds: it does not contain the other work of a busy machine. */
async function shortest(orders: number, prepare: (bench: Bench, orders: number) => Promise<Send>): Promise<number> {
  const send = await prepare(setUp({ seed: { orders }, pageSize: 100 }), orders);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 100; round += 1) {
    const start = performance.now();
    const { status } = await send(round);
    least = Math.min(least, performance.now() - start);
    expect(status).toBeLessThan(300);
  }
  return least;
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
      const path = (round: number) => `/orders/${orders[round].reference}/dropship-address`;
      return (round) => put(path(round), { dropshipAddress: address });
    },
  ],
])("%s takes no longer with 50,000 orders than with 100", async (_name, prepare) => {
  const few = await shortest(100, prepare);
  expect(await shortest(50_000, prepare)).toBeLessThan(4 * few);
});
