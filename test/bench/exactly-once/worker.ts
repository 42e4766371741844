/** Places all orders of a queue with one client. It may be killed at any time, and is started again. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { IdentifiedOrderInput, ImageReference, ProductReference, StoreReference } from "pod-partner";
import type { ClientName } from "./exactly-once.ts";

const [, , name, orders, file] = process.argv as [string, string, ClientName, string, string];
const parallel = 64;
const { POD_PARTNER_BASE_URL: baseUrl = "", POD_PARTNER_SECRET_KEY: secretKey = "" } = process.env;
const references = JSON.parse(process.env.REFERENCES ?? "{}") as {
  storeReference: StoreReference;
  productReference: ProductReference;
  imageReference: ImageReference;
};
const headers = { "X-Service-Secret-Key": secretKey };

/** The queue: which orders are done. */
const done = new Set(existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);

/** Places one order, and rejects if that failed. */
type Place = (order: IdentifiedOrderInput) => Promise<unknown>;

const isTransient = (status: number): boolean => status === 429 || status >= 500;

/** The processes share a file. */
async function ensuring(lookFirst: boolean): Promise<Place> {
  const built = (entry: string): string => new URL(`dist/${entry}.js`, `file://${process.cwd()}/`).href;
  const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
  const { sqliteStorage } = (await import(built("sqlite"))) as typeof import("pod-partner/sqlite");
  const partner = new PodPartner({ baseUrl, secretKey, storage: sqliteStorage(`${file}.db`) });
  return (order) => partner.orders.ensure(order, { lookFirst });
}

const clients: Readonly<Record<ClientName, () => Promise<Place>>> = {
  "pod-partner": () => ensuring(true),
  "pod-partner, lookFirst: false": () => ensuring(false),

  // As most write it: up to five attempts, and a wait that doubles.
  "fetch with retries": async () => async (order) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(`${baseUrl}/orders`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify({ order }),
          signal: AbortSignal.timeout(10_000),
        });
        if (isTransient(response.status)) throw new Error(String(response.status));
        return await response.json();
      } catch (error) {
        if (attempt === 5) throw error;
        await sleep(100 * 2 ** attempt);
      }
    }
  },

  // As its generator makes it: it sends once, and the queue repeats what failed.
  "a generated client": async () => {
    const client = createClient({ baseUrl, headers });
    return async (order) => {
      const { data, error } = await client.POST("/orders", { body: { order }, signal: AbortSignal.timeout(10_000) });
      if (data === undefined) throw new Error(String(error));
    };
  },
};

const place = await clients[name]();
const waiting = Array.from({ length: Number(orders) }, (_, index) => `order-${index}`).filter((id) => !done.has(id));
const lane = async () => {
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    const { storeReference, productReference, imageReference } = references;
    const orderlines = [{ productReference, imageReference, quantity: 1 }];
    try {
      await place({ customIdentifier: id, storeReference, shippingKind: "combined", orderlines });
      appendFileSync(file, `${id}\n`);
    } catch {
      // The queue gives it to a worker again.
      await sleep(500);
      waiting.push(id);
    }
  }
};
await Promise.all(Array.from({ length: parallel }, lane));
