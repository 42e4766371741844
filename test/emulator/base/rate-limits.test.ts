import { expect, it } from "vitest";
import { setUp } from "../support.ts";

it("refuses the options of a control that are not an object", () => {
  const { emulator } = setUp();
  expect(() => emulator.drain("default", 100 as never)).toThrow("Give the options as an object; got 100");
});

it("removes tokens from a bucket, as another client would", async () => {
  const { emulator, get } = setUp();
  emulator.drain("default", { tokens: 100 });
  expect((await get("/orders")).headers.get("X-RateLimit")).toBe('"default";r=2899;t=0');
});
