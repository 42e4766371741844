import { describe, expect, it } from "vitest";
import { SeenCursors } from "../../src/pagination/seen.ts";

describe("SeenCursors", () => {
  it("finds a loop longer than its memory after a limited number of pages", () => {
    const cursors = new SeenCursors("GET /orders");
    const loop = 5_000;
    let steps = 0;
    const walk = () => {
      for (; steps < 10 * loop; steps++) cursors.add(`cursor-${steps % loop}`);
    };
    expect(walk).toThrow("GET /orders returned the same nextCursor twice");
    expect(steps).toBeGreaterThanOrEqual(loop);
  });

  it("accepts a chain of any length without a loop", () => {
    const cursors = new SeenCursors("GET /orders");
    const walk = () => {
      for (let step = 0; step < 50_000; step++) cursors.add(`cursor-${step}`);
    };
    expect(walk).not.toThrow();
  });
});
