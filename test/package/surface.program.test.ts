import { describe, expect, it } from "vitest";
import { entryPoints, surfaceOf } from "./surface.ts";

describe("the public surface is the reviewed one", () => {
  it.each(entryPoints)("of %s: to accept a change, run this test with -u and review the difference", async (door) => {
    const surface = surfaceOf(door);
    expect(surface).toContain("// Exported");
    await expect(surface).toMatchFileSnapshot(`surface/${door}.txt`);
  });
});
