import { nodeTransport } from "pod-partner/node";
import { PodPartner as Original, type PodPartnerOptions } from "../../src/index.ts";

export * from "../../src/index.ts";

const transport = nodeTransport();

/** The client on `nodeTransport`, for tests that are written for any transport. */
export class PodPartner extends Original {
  constructor(options: PodPartnerOptions = {}) {
    super(
      typeof options === "object" && options !== null && options.fetch === undefined
        ? { transport, ...options }
        : options,
    );
  }
}
