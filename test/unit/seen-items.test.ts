import { describe, expect, it } from "vitest";
import { SeenItems } from "../../src/pagination/seen.ts";

describe("SeenItems", () => {
  it("removes items that an earlier page or the same page contained, and keeps items without a reference", () => {
    const seen = new SeenItems<object>();
    const [a, b, c] = [{ reference: "a" }, { reference: "b" }, { reference: "c" }];
    expect(seen.withoutRepeats([a, b, {}])).toEqual([a, b, {}]);
    expect(seen.withoutRepeats([b, c, c, {}])).toEqual([c, {}]);
  });

  it("remembers the last eight pages only, so that a list of any length uses bounded memory", () => {
    const first = { reference: "first" };
    const isNewAfter = (pages: number) => {
      const seen = new SeenItems<object>();
      seen.withoutRepeats([first]);
      for (let page = 1; page <= pages; page++) seen.withoutRepeats([{ reference: `of page ${page}` }]);
      return seen.withoutRepeats([first]).length === 1;
    };
    expect(isNewAfter(7)).toBe(false);
    expect(isNewAfter(8)).toBe(true);
  });
});
