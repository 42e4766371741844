import { describe, expect, it } from "vitest";
import { fromJson } from "../../src/storage/values.ts";

describe("a value of the storage that should be JSON", () => {
  it("is read as JSON", () => {
    expect(fromJson(new TextEncoder().encode('{"reference":"Order_1"}'))).toEqual({ reference: "Order_1" });
  });

  it.each([
    ["absent", undefined],
    ["no JSON", new TextEncoder().encode('{"reference":')],
    ["empty", new Uint8Array()],
  ])("counts as absent when it is %s", (_, bytes) => {
    expect(fromJson(bytes)).toBeUndefined();
  });
});
