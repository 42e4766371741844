/** A process that fills a storage with followed orders, or follows them and sweeps once. */

import { FollowerStorage } from "../../../src/callbacks/follower-storage.ts";
import { createOrderFollower } from "../../../src/callbacks/index.ts";
import { type OrderState, stateOf } from "../../../src/callbacks/order-state.ts";
import type { Order, OrderReference } from "../../../src/index.ts";
import { ScopedStorage } from "../../../src/storage/scoped-storage.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { ref } from "../../support/references.ts";
import { openStorage } from "../open-storage.ts";
import type { WorkerJob } from "./messages.ts";

export interface ScaleJob {
  readonly step: "fill" | "sweep";
  readonly storage: WorkerJob["storage"];
  readonly completed: number;
  readonly open: number;
}

/** What the sweep has cost. Times in milliseconds, memory in MiB. */
export interface ScaleResult {
  readonly "to the first request": number;
  readonly sweep: number;
  readonly requests: number;
  readonly "memory alive": number;
  readonly "peak memory": number;
}

const scope = "scale";
const day = 86_400_000;
/** What a key holds that was never set. */
const absent = { bytes: undefined, value: undefined };

function orderOf(reference: OrderReference): Order {
  const line = { quantity: 3, canceledQuantity: 0, shippedQuantity: 1, annotations: [], legacySku: null };
  const lines = [1, 2].map((index) => ({ ...line, index, productReference: ref("Product", String(index)) }));
  return {
    reference,
    status: { code: "accepted" },
    orderlines: lines,
    onHold: null,
    dropshipAddressReference: ref("Address", "1"),
    legacyOrderCode: "shop-1",
  };
}

const referenceOf = (number: number): OrderReference => ref("Order", String(number));

async function fill({ storage, completed, open }: ScaleJob): Promise<object> {
  const scoped = new ScopedStorage(await openStorage(storage), scope);
  const followed = new FollowerStorage(async () => scoped, systemClock, 90 * day);
  const add = async (number: number) => {
    const reference = referenceOf(number);
    const state: OrderState = await stateOf(orderOf(reference), new Date().toUTCString(), "another");
    const order = { ...state, completed: number < completed };
    await followed.setOrder(reference, { v: 1, gone: false, order }, absent);
    if (!order.completed) await followed.setMark(reference, { looked: Date.now() - day - number }, absent);
  };
  const atOnce = 500;
  for (let at = 0; at < completed + open; at += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, completed + open - at) }, (_, more) => add(at + more)));
  }
  return {};
}

const mebibytes = (bytes: number) => Math.round((bytes / 2 ** 20) * 10) / 10;

async function sweep({ storage }: ScaleJob): Promise<ScaleResult> {
  let requests = 0;
  let firstAt = 0;
  const opened = await openStorage(storage);
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const heap = process.memoryUsage().heapUsed;
  const began = performance.now();
  const get = (reference: OrderReference) => ({
    withResponse: async () => {
      if (requests++ === 0) firstAt = performance.now();
      return { data: orderOf(reference), response: { headers: new Headers() } };
    },
  });
  const partner = { orders: { get }, "~scopeOf": async () => scope };
  const follower = createOrderFollower({ partner, storage: opened, onChange: () => undefined });
  const { changed } = await follower.reconcile();
  if (changed > 0) throw new Error(`${changed} orders changed`);
  const ended = performance.now();
  const peak = process.resourceUsage().maxRSS * 1024 - before;
  globalThis.gc?.();
  return {
    "to the first request": Math.round(firstAt - began),
    sweep: Math.round(ended - began),
    requests,
    "memory alive": mebibytes(process.memoryUsage().heapUsed - heap),
    "peak memory": mebibytes(peak),
  };
}

process.once("message", async (job: ScaleJob) => {
  process.send?.(await (job.step === "fill" ? fill(job) : sweep(job)));
});
process.once("disconnect", () => process.exit());
