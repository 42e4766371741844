import { ConfigurationError, memoryStorage, PodPartner } from "pod-partner";
import { createOrderFollower } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { createReader } from "../support.ts";
import { createWorld } from "./support.ts";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });
const valid = { partner, storage: memoryStorage(), onChange: () => undefined };

/** Creates a follower without type checks, as a JavaScript program may, and returns the error. */
function refusal(options: unknown): ConfigurationError {
  try {
    createOrderFollower(options as never);
  } catch (error) {
    if (ConfigurationError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("the follower was made");
}

describe("the follower's options", () => {
  it.each<[string, object, string]>([
    ["a client without orders", { partner: {} }, "partner"],
    ["an object that only reads orders", { partner: createReader() }, "partner"],
    ["a path as the storage", { storage: "orders.db" }, "storage"],
    ["a storage without compare-and-set", { storage: new Map() }, "storage"],
    ["a handler that is not a function", { onChange: {} }, "onChange"],
    ["an onGone that is not a function", { onGone: true }, "onGone"],
    ["an onError that is not a function", { onError: "log" }, "onError"],
    ["no period", { interval: 0 }, "interval"],
    ["a period of less than a second", { interval: 999 }, "interval"],
    ["a period as a text", { interval: "1h" }, "interval"],
    ["no time", { timeout: 0 }, "timeout"],
    ["a negative time in the storage", { keepFor: -1 }, "keepFor"],
    ["a clock without functions", { clock: {} }, "clock"],
    ["an unknown option", { onchange: () => undefined }, "onchange"],
  ])("refuse %s", (_, options, path) => {
    const error = refusal({ ...valid, ...options });
    expect(error.issues.map((issue) => issue.path)).toEqual([[path]]);
    expect(error.message).toContain("The follower's options are not valid.");
  });

  it("refuse a missing client, storage and handler together, and anything that is not an object", () => {
    expect(refusal({}).issues).toHaveLength(3);
    expect(refusal(undefined).issues).toHaveLength(1);
  });

  it("suggest the likely name for an unknown one", () => {
    expect(refusal({ ...valid, every: 1 }).message).toContain("did you mean `interval`?");
    expect(refusal({ ...valid, onOrderUpdated: 1 }).message).toContain("did you mean `onChange`?");
  });

  it("accept undefined for each optional one", () => {
    const none = { onGone: undefined, interval: undefined, onError: undefined, timeout: undefined, clock: undefined };
    createOrderFollower({ ...valid, ...none, keepFor: undefined });
  });

  it("of a sweep are checked, too", async () => {
    const { reconcile } = createWorld().follower();
    for (const options of [{ concurrency: 0 }, { signal: {} }, { unreadFor: -1 }, { parallel: 2 }]) {
      await expect(reconcile(options as never)).rejects.toBeInstanceOf(ConfigurationError);
    }
  });
});
