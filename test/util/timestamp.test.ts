import { describe, expect, it } from "vitest";
import { check } from "../../src/schemas/check.ts";
import { timestamp as schema } from "../../src/schemas/shape.ts";
import { latestTime } from "../../src/util/timestamp.ts";

describe("the latest time that an ISO 8601 timestamp can mean (specification 1, Conventions)", () => {
  const timestamp = "2026-11-21T14:00:30.500Z";

  it.each([
    [timestamp, timestamp],
    ["2026-11-21T14:00:30,5Z", timestamp],
    ["20261121T140030.5Z", timestamp],
    ["2026-11-21T15:00:30.500+01:00", timestamp],
    ["2026-11-21T15:00:30.500+01", timestamp],
    ["2026-11-21T07:30:30.500-0630", timestamp],
    ["2026-11-21T14:00Z", "2026-11-21T14:01:00.000Z"],
    ["2026-11-21T14Z", "2026-11-21T15:00:00.000Z"],
  ])("%s is %s", (timestamp, moment) => {
    expect(new Date(latestTime(timestamp)).toISOString()).toBe(moment);
  });

  it.each([
    ["2026-11-21T14:00:30.500", "2026-11-22T02:00:30.500Z"],
    ["20261121T1400", "2026-11-22T02:01:00.000Z"],
    ["2026-11-21", "2026-11-22T12:00:00.000Z"],
  ])("%s, without an offset, is at most %s: twelve hours behind UTC", (timestamp, moment) => {
    expect(new Date(latestTime(timestamp)).toISOString()).toBe(moment);
  });

  it.each(["2026-W47-6", "soon", ""])("%j has no upper bound", (timestamp) => {
    expect(latestTime(timestamp)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("a timestamp in a response", () => {
  it.each(["2026-11-21T14:00:30.500Z", "20261121T140030,5+0100", "2026-11-21T14", "2026-11-21"])(
    "%s is valid and can be compared",
    (text) => {
      expect(check(schema, text, [])).toMatchObject({ ok: true });
      expect(latestTime(text)).toBeLessThan(Number.POSITIVE_INFINITY);
    },
  );

  it.each(["2026-11-21T14junk", "2026-11-21T14:00:30Z and more", "2026-W47-6", "today", ""])(
    "%j is a fault that is only reported",
    (text) => {
      expect(check(schema, text, [])).toMatchObject({
        ok: true,
        described: [{ message: "expected an ISO 8601 timestamp" }],
      });
    },
  );
});
