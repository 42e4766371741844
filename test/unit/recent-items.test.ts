import { describe, expect, it } from "vitest";
import { RecentItems } from "../../src/pagination/recent-items.ts";

describe("recent items", () => {
  it("leaves out what an earlier page or the page itself has given, and keeps what has no reference", () => {
    const recent = new RecentItems<object>();
    const [a, b, c] = [{ reference: "a" }, { reference: "b" }, { reference: "c" }];
    expect(recent.withoutRepeats([a, b, {}])).toEqual([a, b, {}]);
    expect(recent.withoutRepeats([b, c, c, {}])).toEqual([c, {}]);
  });
});
