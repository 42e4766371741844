import pRetry from "p-retry";
import { type DropshipOrderInput, type Outcome, PodPartner } from "../../src/index.ts";
import { concurrently } from "../../src/util/concurrency.ts";
import type { Job } from "./messages.ts";

/** An order of the soak: complete as it is sent, so that each client can send it unchanged. */
export type SoakOrder = DropshipOrderInput & { readonly customIdentifier: string };

/** Places orders, and yields each outcome. */
export type Place = (
  orders: readonly SoakOrder[],
  job: Job,
) => AsyncIterable<Outcome<SoakOrder, { reference: string }>>;

const placeWithSdk: Place = (orders, { baseUrl, secretKey, concurrency }) =>
  new PodPartner({ baseUrl, secretKey }).orders.ensureMany(orders, { concurrency });

/** A client without an SDK: it retries everything that failed. */
const placePlainly: Place = (orders, { baseUrl, secretKey, concurrency }) =>
  concurrently(orders, concurrency, (order) =>
    pRetry(
      async () => {
        const response = await fetch(`${baseUrl}/orders`, {
          method: "POST",
          headers: { "x-service-secret-key": secretKey, "content-type": "application/json" },
          body: JSON.stringify({ order }),
        });
        if (!response.ok) throw new Error(`The service responded with ${response.status}`);
        const { order: created } = (await response.json()) as { order: { reference: string } };
        return created;
      },
      { retries: 4, minTimeout: 100 },
    ),
  );

export const clients: Readonly<Record<Job["client"], Place>> = { "pod-partner": placeWithSdk, plain: placePlainly };
