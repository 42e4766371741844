import { describe, expect, it } from "vitest";
import { CursorTrail } from "../../src/pagination/cursor-trail.ts";

describe("the trail of cursors", () => {
  it("finds a loop that is longer than its memory, in time", () => {
    const trail = new CursorTrail("GET /orders");
    const loop = 5_000;
    let steps = 0;
    const walk = () => {
      for (; steps < 10 * loop; steps++) trail.follow(`cursor-${steps % loop}`);
    };
    expect(walk).toThrow("GET /orders returned the same nextCursor twice");
    expect(steps).toBeGreaterThanOrEqual(loop);
  });

  it("lets a chain of any length pass", () => {
    const trail = new CursorTrail("GET /orders");
    for (let step = 0; step < 50_000; step++) trail.follow(`cursor-${step}`);
  });
});
