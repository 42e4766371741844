import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../src/http/response.ts";

describe("Retry-After (specification 8, RFC 9110)", () => {
  const now = Date.parse("2026-11-02T09:00:00Z");
  const date = "Mon, 02 Nov 2026 09:00:00 GMT";

  it.each([
    ["17", undefined, 17_000],
    ["0", undefined, 0],
    ["1.5", undefined, 1_500],
    ["1.25", undefined, 1_250],
    ["5, 17", undefined, 17_000],
    ["Mon, 02 Nov 2026 09:00:30 GMT", undefined, 30_000],
    ["Monday, 02-Nov-26 09:00:30 GMT", undefined, 30_000],
    ["Mon Nov  2 09:00:30 2026", undefined, 30_000],
    ["Mon Nov  2 09:00:30 2026", "Mon Nov  2 09:00:10 2026", 20_000],
    ["Mon, 02 Nov 2026 08:00:30 GMT", "Mon, 02 Nov 2026 08:00:00 GMT", 30_000],
    ["Mon, 02 Nov 2026 08:59:00 GMT", date, 0],
  ])("%j in a response of %j asks for %d ms", (value, date, ms) => {
    const headers = new Headers({ "retry-after": value, ...(date && { date: date }) });
    expect(parseRetryAfter(headers, now)).toBe(ms);
  });

  it("is read as UTC in each date format, whatever the time zone of the machine", () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = "Asia/Tokyo";
      expect(parseRetryAfter(new Headers({ "retry-after": "Mon Nov  2 09:00:30 2026" }), now)).toBe(30_000);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each(["", "soon", "-5", "5,", "5, soon", "1e3", "0x10", "Mon, 99 Nov 2026", `at ${date}`, "9".repeat(400)])(
    "%j is invalid",
    (value) => {
      expect(parseRetryAfter(new Headers({ "retry-after": value }), now)).toBeUndefined();
    },
  );
});
