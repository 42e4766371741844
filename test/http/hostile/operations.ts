import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Download, PodPartner, RequestOptions } from "../../../src/index.ts";
import { combinedOrder, sentAddress } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";
import { changedBy, picture } from "./model.ts";

/** What an operation gets. */
interface Making {
  readonly partner: PodPartner;
  /** Makes another client, as a restarted process does. */
  readonly connect: () => PodPartner;
  readonly options: RequestOptions;
  /** The place of the call in its case. */
  readonly number: number;
}

interface Operation {
  /** What it creates at the service. */
  readonly creates?: "order" | "claim" | "other";
  /** What it changes of its own order: some units, the rest of the units, or the address. */
  readonly changes?: "units" | "rest" | "address";
  /** The `customIdentifier` of the order. */
  readonly identifier?: (number: number) => string;
  /** It leaves a download unread, which stays open until its timeout. */
  readonly unread?: boolean;
  /** Its body cannot be sent twice. */
  readonly once?: boolean;
  /** It may fail with an error of the file system. */
  readonly files?: boolean;
  readonly run: (making: Making) => Promise<unknown>;
}

const folder = mkdtempSync(join(tmpdir(), "hostile-"));
/** All calls of `ensure` in a case are about one order. */
const shared = "ensured";

const orderOf = (customIdentifier: string) => ({ ...combinedOrder, customIdentifier });
const claimOf = (number: number) => ({
  shipmentReference: ref("Shipment", "1"),
  orderReference: ref("Order", "1"),
  claimlines: [
    {
      orderlineIndex: 1,
      // Each call claims something else: two equal claims may both be intended.
      quantity: number + 1,
      claimcategoryReference: ref("Claimcategory", "1"),
      evidenceReferences: [],
    },
  ],
});

async function* inPieces(): AsyncGenerator<Uint8Array> {
  yield picture.slice(0, 20);
  yield picture.slice(20);
}

const media = async ({ partner, options }: Making, wait = false): Promise<Download> =>
  wait
    ? partner.renders.media(ref("Render", "1"), { ...options, wait: { interval: 20_000 } })
    : partner.renders.media(ref("Render", "1"), options);

/** The calls that a case can make. */
export const operations = {
  "orders.create": {
    creates: "order",
    identifier: (number) => `created-${number}`,
    run: ({ partner, options, number }) => partner.orders.create(orderOf(`created-${number}`), options),
  },
  "orders.ensure": {
    creates: "order",
    identifier: () => shared,
    run: ({ partner, options }) => partner.orders.ensure(orderOf(shared), options),
  },
  "orders.ensure, restarted": {
    creates: "order",
    identifier: () => shared,
    run: ({ connect, options }) => connect().orders.ensure(orderOf(shared), { ...options, lookFor: 30_000 }),
  },
  "orders.lookup": { run: ({ partner, options }) => partner.orders.lookup({ customIdentifier: "x" }, options) },
  "orders.list": { run: ({ partner, options }) => partner.orders.list(options).toArray() },
  "orders.list, left early": {
    run: async ({ partner, options }) => {
      for await (const order of partner.orders.list({ ...options, prefetch: 2 })) return order;
      return undefined;
    },
  },
  "orders.quote": {
    run: ({ partner, options }) => {
      const { customIdentifier, ...quote } = combinedOrder;
      const orderlines = [{ productReference: ref("Product", "1"), quantity: 1 }];
      return partner.orders.quote({ ...quote, orderlines }, options);
    },
  },
  "orders.cancel": {
    changes: "units",
    run: ({ partner, options, number }) =>
      partner.orders.cancel(changedBy(number), [{ index: 1, canceledQuantity: 2 }], options),
  },
  "orders.cancelRemaining": {
    changes: "rest",
    run: ({ partner, options, number }) => partner.orders.cancelRemaining(changedBy(number), options),
  },
  "orders.replaceDropshipAddress": {
    changes: "address",
    run: ({ partner, options, number }) =>
      partner.orders.replaceDropshipAddress(changedBy(number), { ...sentAddress, streetname: "Singel" }, options),
  },
  "claims.createItemIssues": {
    creates: "claim",
    run: ({ partner, options, number }) => partner.claims.createItemIssues(claimOf(number), options),
  },
  "claims.retract": { run: ({ partner, options }) => partner.claims.retract(ref("Claim", "9"), options) },
  "renders.wait": {
    run: ({ partner, options }) => partner.renders.wait(ref("Render", "1"), { ...options, interval: 20_000 }),
  },
  "renders.media, read": { run: async (making) => (await media(making, true)).bytes() },
  "renders.media, streamed": {
    run: async (making) => {
      let length = 0;
      for await (const chunk of (await media(making, true)).stream({ onProgress: () => undefined }))
        length += chunk.byteLength;
      return length;
    },
  },
  "renders.media, saved": {
    files: true,
    run: async (making) => (await media(making, true)).saveTo(join(folder, `${making.number}.png`)),
  },
  "renders.media, unread": { unread: true, run: (making) => media(making, true) },
  "renders.media, canceled": { run: async (making) => (await media(making, true)).cancel() },
  "images.upload": { run: ({ partner, options }) => partner.images.upload(picture, options) },
  "images.upload, a stream": {
    once: true,
    run: ({ partner, options }) => partner.images.upload(inPieces(), options),
  },
  "request GET": { run: ({ partner, options }) => partner.request("GET", "/unknown", options) },
  "request POST": {
    creates: "other",
    run: ({ partner, options, number }) => partner.request("POST", "/unknown", { ...options, body: { number } }),
  },
  withResponse: {
    run: ({ partner, options }) => partner.claims.get(ref("Claim", "9"), options).withResponse(),
  },
} satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

export const operationOf = (name: OperationName): Operation => operations[name];
/** The body by which the model counts what `request POST` has done. */
export const otherBody = (number: number): string => JSON.stringify({ number });
