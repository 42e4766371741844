import type { RequestOptions } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { orderOf } from "./matrix/subjects.ts";
import type { setUp } from "./setup.ts";

type Stage = ReturnType<typeof setUp>;
type Call = (options: RequestOptions) => PromiseLike<unknown>;

/** A call that waits, forever if nothing ends it. */
export interface Wait {
  readonly name: string;
  /** The error at the deadline. */
  readonly late: "DeadlineError" | "WaitTimeoutError" | "OutcomeUnknownError";
  begin(stage: Stage): Promise<Call>;
}

/** A render that was created just now. */
export async function pendingRender({ partner, emulator }: Stage) {
  const { demo } = emulator;
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  const { reference: compositionReference } = await partner.compositions.lookup({
    sceneReference: demo.scenes.studio,
    productReference: demo.products.slimCase,
    perspectiveReference: demo.perspectives.front,
  });
  return (await partner.renders.create({ compositionReference, imageReference })).reference;
}

/** An image that every product of the demo catalog has. */
export const productPicture = "example.png";

const readStores =
  ({ partner }: Stage): Call =>
  (options) =>
    partner.organization.stores.list(options);

export const waits: readonly Wait[] = [
  {
    name: "queueing for a token",
    late: "DeadlineError",
    begin: async (stage) => {
      const headers = { "X-RateLimit": '"default";r=0;t=100', "X-RateLimit-Policy": '"default";q=1;w=100' };
      stage.emulator.faults.add({ nth: 1, fault: "headers", headers });
      await stage.partner.auth.validate();
      return readStores(stage);
    },
  },
  {
    name: "backing off",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "drop" });
      return (options) =>
        stage.partner.organization.stores.list({ ...options, retry: { retries: 99, baseDelay: 1e6, maxDelay: 1e6 } });
    },
  },
  {
    name: "in the Retry-After of a 429",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "status", status: 429, code: "rate_limited", retryAfter: 100_000 });
      return readStores(stage);
    },
  },
  {
    name: "in the Retry-After of a 503",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "status", status: 503, retryAfter: 100_000 });
      return readStores(stage);
    },
  },
  {
    name: "waiting for the headers",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "slow", ms: 1e9 });
      return readStores(stage);
    },
  },
  {
    name: "reading a body that stalls",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "stall" });
      return readStores(stage);
    },
  },
  {
    name: "reading a body that trickles",
    late: "DeadlineError",
    begin: async (stage) => {
      stage.emulator.faults.add({ fault: "trickle", ms: 20_000 });
      return readStores(stage);
    },
  },
  {
    name: "polling a render's status",
    late: "WaitTimeoutError",
    begin: async (stage) => {
      const render = await pendingRender(stage);
      return (options) => stage.partner.renders.wait(render, options);
    },
  },
  {
    name: "polling a render's file",
    late: "WaitTimeoutError",
    begin: async (stage) => {
      const render = await pendingRender(stage);
      return (options) => stage.partner.renders.media(render, { ...options, wait: true });
    },
  },
  {
    name: "reading a download",
    late: "DeadlineError",
    begin: async ({ partner, emulator }) => {
      const { slimCase } = emulator.demo.products;
      emulator.faults.add({ fault: "stall" });
      return async (options) => (await partner.catalog.products.media(slimCase, productPicture, options)).bytes();
    },
  },
  {
    name: "looking a lost order up",
    late: "OutcomeUnknownError",
    begin: async ({ partner, emulator }) => {
      emulator.faults.add({ on: "orders.create", fault: "drop", when: "before" });
      emulator.faults.add({ on: "orders.lookup", fault: "stall" });
      return (options) => partner.orders.create(orderOf(emulator, "shop-1001"), options);
    },
  },
  {
    name: "waiting before a lost order is sent again",
    late: "OutcomeUnknownError",
    begin: async ({ partner, emulator }) => {
      emulator.faults.add({ on: "orders.create", fault: "status", status: 503, retryAfter: 100_000, when: "before" });
      return (options) => partner.orders.create(orderOf(emulator, "shop-1001"), options);
    },
  },
];
