import type { RequestOptions } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { orderOf } from "../http/matrix/subjects.ts";
import type { setUp } from "./setup.ts";

type Setup = ReturnType<typeof setUp>;
type Call = (options: RequestOptions) => PromiseLike<unknown>;

/** A call that waits, forever if nothing ends it. */
export interface Wait {
  readonly name: string;
  /** The error at the deadline. */
  readonly late: "DeadlineError" | "WaitTimeoutError" | "OutcomeUnknownError";
  begin(setup: Setup): Promise<Call>;
}

/** A render that was created just now. */
export async function pendingRender({ partner, emulator }: Setup) {
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
  ({ partner }: Setup): Call =>
  (options) =>
    partner.organization.stores.list(options);

export const waits: readonly Wait[] = [
  {
    name: "queueing for a token",
    late: "DeadlineError",
    begin: async (setup) => {
      const headers = { "X-RateLimit": '"default";r=0;t=100', "X-RateLimit-Policy": '"default";q=1;w=100' };
      setup.emulator.faults.add({ nth: 1, fault: "headers", headers });
      await setup.partner.auth.validate();
      return readStores(setup);
    },
  },
  {
    name: "waiting before a retry",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "drop" });
      return (options) =>
        setup.partner.organization.stores.list({ ...options, retry: { retries: 99, baseDelay: 1e6, maxDelay: 1e6 } });
    },
  },
  {
    name: "in the Retry-After of a 429",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "status", status: 429, code: "rate_limited", retryAfter: 100_000 });
      return readStores(setup);
    },
  },
  {
    name: "in the Retry-After of a 503",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "status", status: 503, retryAfter: 100_000 });
      return readStores(setup);
    },
  },
  {
    name: "waiting for the headers",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "slow", ms: 1e9 });
      return readStores(setup);
    },
  },
  {
    name: "reading a body that stalls",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "stall" });
      return readStores(setup);
    },
  },
  {
    name: "reading a body that trickles",
    late: "DeadlineError",
    begin: async (setup) => {
      setup.emulator.faults.add({ fault: "trickle", ms: 20_000 });
      return readStores(setup);
    },
  },
  {
    name: "polling a render's status",
    late: "WaitTimeoutError",
    begin: async (setup) => {
      const render = await pendingRender(setup);
      return (options) => setup.partner.renders.wait(render, options);
    },
  },
  {
    name: "polling a render's file",
    late: "WaitTimeoutError",
    begin: async (setup) => {
      const render = await pendingRender(setup);
      return (options) => setup.partner.renders.media(render, { ...options, wait: true });
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
    name: "looking up a lost order",
    late: "OutcomeUnknownError",
    begin: async ({ partner, emulator }) => {
      emulator.faults.add({ on: "orders.create", fault: "drop", when: "before" });
      emulator.faults.add({ on: "orders.lookup", fault: "stall" });
      return (options) => partner.orders.create(orderOf(emulator, "shop-1001"), options);
    },
  },
  {
    name: "waiting before a lost order is retried",
    late: "OutcomeUnknownError",
    begin: async ({ partner, emulator }) => {
      emulator.faults.add({ on: "orders.create", fault: "status", status: 503, retryAfter: 100_000, when: "before" });
      return (options) => partner.orders.create(orderOf(emulator, "shop-1001"), options);
    },
  },
];
