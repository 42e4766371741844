import { describe, expect, it } from "vitest";
import { RecentItems } from "../../src/pagination/recent-items.ts";

describe("RecentItems", () => {
  it("removes items that an earlier page or the same page contained, and keeps items without a reference", () => {
    const recent = new RecentItems<object>();
    const [a, b, c] = [{ reference: "a" }, { reference: "b" }, { reference: "c" }];
    expect(recent.withoutRepeats([a, b, {}])).toEqual([a, b, {}]);
    expect(recent.withoutRepeats([b, c, c, {}])).toEqual([c, {}]);
  });

  it("remembers the last eight pages only, so that a list of any length uses bounded memory", () => {
    const first = { reference: "first" };
    const isNewAfter = (pages: number) => {
      const recent = new RecentItems<object>();
      recent.withoutRepeats([first]);
      for (let page = 1; page <= pages; page++) recent.withoutRepeats([{ reference: `of page ${page}` }]);
      return recent.withoutRepeats([first]).length === 1;
    };
    expect(isNewAfter(7)).toBe(false);
    expect(isNewAfter(8)).toBe(true);
  });
});
