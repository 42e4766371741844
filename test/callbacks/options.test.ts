import { inspect } from "node:util";
import { ConfigurationError, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { createReader } from "./support.ts";

const valid = { partner: createReader(), token: false as const, onOrderUpdated: () => undefined };

/** Creates a receiver without type checks, as a JavaScript program may, and returns the error. */
function refusal(options: unknown): ConfigurationError {
  try {
    createOrderUpdatedReceiver(options as never);
  } catch (error) {
    if (ConfigurationError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("the receiver was made");
}

describe("the receiver's options", () => {
  it.each<[string, object, string]>([
    ["a client without orders", { partner: {} }, "partner"],
    ["a handler that is not a function", { onOrderUpdated: {} }, "onOrderUpdated"],
    ["an empty token, which any program can send", { token: "" }, "token"],
    ["null as the token", { token: null }, "token"],
    ["no token, as of a missing variable", { token: undefined }, "token"],
    ["a token of 15 characters, which can be guessed", { token: "0123456789abcde" }, "token"],
    ["true as the token", { token: true }, "token"],
    ["an unknown environment", { environment: "production" }, "environment"],
    ["no concurrency", { concurrency: 0 }, "concurrency"],
    ["half a concurrency", { concurrency: 1.5 }, "concurrency"],
    ["no time", { timeout: 0 }, "timeout"],
    ["an onError that is not a function", { onError: "log" }, "onError"],
    ["a clock without functions", { clock: {} }, "clock"],
    ["an unknown option", { onOrderUpdate: () => undefined }, "onOrderUpdate"],
  ])("refuse %s", (_, options, path) => {
    const error = refusal({ ...valid, ...options });
    expect(error.issues.map((issue) => issue.path)).toEqual([[path]]);
    expect(error.message).toContain("The receiver's options are not valid.");
  });

  it("refuse a missing client and handler at once, and anything that is not an object", () => {
    expect(refusal({}).issues).toHaveLength(3);
    expect(refusal(undefined).issues).toHaveLength(1);
  });

  it("refuse a follower that is none, and one next to a client or handler", () => {
    expect(refusal({ token: false, follower: {} }).issues.map(({ path }) => path)).toEqual([["follower"]]);
    const follower = { update: async () => "unchanged" };
    const { issues } = refusal({ ...valid, follower });
    expect(issues.map(({ path }) => path)).toEqual([["partner"], ["onOrderUpdated"]]);
    expect(issues[0]?.message).toBe("expected either `follower`, or `partner` and `onOrderUpdated`");
  });

  it("suggest the likely name for an unknown one", () => {
    expect(refusal({ ...valid, secret: "x" }).message).toContain("did you mean `token`?");
  });

  it("show no token in an error, and none when the receiver is printed", () => {
    const secret = 827_364_512_093_847;
    expect(inspect(refusal({ ...valid, token: secret }), { depth: 9 })).not.toContain(String(secret));
    const receiver = createOrderUpdatedReceiver({ ...valid, token: "0d5b3c9a7e1f4826" });
    const shown = inspect(receiver, { depth: 9, showHidden: true }) + JSON.stringify(receiver);
    expect(shown).not.toContain("0d5b3c9a7e1f4826");
  });

  it("accept undefined for each optional one, and a client as `partner`", () => {
    const undefinedOptions = { environment: undefined, concurrency: undefined, timeout: undefined };
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });
    createOrderUpdatedReceiver({ ...valid, ...undefinedOptions, partner, onError: undefined, clock: undefined });
  });
});
