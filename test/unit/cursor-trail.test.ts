import { describe, expect, it } from "vitest";
import { CursorTrail } from "../../src/pagination/cursor-trail.ts";

describe("CursorTrail", () => {
  it("finds a loop longer than its memory after a limited number of pages", () => {
    const trail = new CursorTrail("GET /orders");
    const loop = 5_000;
    let steps = 0;
    const walk = () => {
      for (; steps < 10 * loop; steps++) trail.follow(`cursor-${steps % loop}`);
    };
    expect(walk).toThrow("GET /orders returned the same nextCursor twice");
    expect(steps).toBeGreaterThanOrEqual(loop);
  });

  it("accepts a chain of any length without a loop", () => {
    const trail = new CursorTrail("GET /orders");
    const walk = () => {
      for (let step = 0; step < 50_000; step++) trail.follow(`cursor-${step}`);
    };
    expect(walk).not.toThrow();
  });
});
