import { expect, it } from "vitest";
import { day, hour } from "./support/clock.ts";
import { createRender, renderInput } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";

const tokens = async (service: Service) => (await service.get("/rendertokens")).body.rendertokens;

/** The next reset for a point in time, by hand: Monday 00:00 in Amsterdam, UTC+1 in winter and UTC+2 in summer. */
const resets = [
  ["2026-06-03T10:00:00Z", "2026-06-08T00:00:00+02:00", "a Wednesday in summer"],
  ["2026-01-07T10:00:00Z", "2026-01-12T00:00:00+01:00", "a Wednesday in winter"],
  ["2026-06-07T21:59:59Z", "2026-06-08T00:00:00+02:00", "the last second of a Sunday"],
  ["2026-06-07T22:00:00Z", "2026-06-15T00:00:00+02:00", "the first moment of a Monday"],
  ["2026-01-04T22:59:59Z", "2026-01-05T00:00:00+01:00", "the last second of a Sunday in winter"],
  ["2026-01-04T23:00:00Z", "2026-01-12T00:00:00+01:00", "the first moment of a Monday in winter"],
  ["2026-03-28T12:00:00Z", "2026-03-30T00:00:00+02:00", "the day before the clocks go forward"],
  ["2026-03-29T00:59:59Z", "2026-03-30T00:00:00+02:00", "the second before the clocks go forward"],
  ["2026-10-24T12:00:00Z", "2026-10-26T00:00:00+01:00", "the day before the clocks go back"],
  ["2026-10-25T00:30:00Z", "2026-10-26T00:00:00+01:00", "the hour that is repeated"],
  ["2026-12-31T23:30:00Z", "2027-01-04T00:00:00+01:00", "the turn of the year"],
  ["2028-02-28T12:00:00Z", "2028-03-06T00:00:00+01:00", "a leap year"],
] as const;

it.each(resets)("8 limit rendertokens: on %s they reset at %s (%s)", async (start, expected) => {
  await using service = await startService({ start });
  expect((await tokens(service)).resets).toBe(expected);
});

it.each(["2026-06-03T10:00:00Z", "2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"])(
  "8 limit rendertokens: from %s they are used until the reset, and are free from it on",
  async (start) => {
    await using service = await startService({ start, rendertokenLimit: 1 });
    await createRender(service, "one");
    const refused = await service.post("/renders", await renderInput(service, "two"));
    expectRefusal(refused, 429, "rendertoken_limit_exceeded");
    const { resets: reset } = await tokens(service);
    service.clock.advance(Number(refused.headers.get("Retry-After")) * 1000 - 1);
    expect(await tokens(service)).toMatchObject({ used: 1, remaining: 0 });
    service.clock.advance(1);
    expect(new Date(service.clock.now())).toEqual(new Date(reset));
    expect(await tokens(service)).toMatchObject({ used: 0, remaining: 1 });
    expectCreated(await service.post("/renders", await renderInput(service, "two")));
  },
);

it("8 limit rendertokens: the week of the autumn change has an hour more", async () => {
  await using service = await startService({ start: "2026-10-18T22:00:00Z" });
  const first = Date.parse((await tokens(service)).resets);
  expect(first - service.clock.now()).toBe(7 * day + hour);
  service.clock.set(new Date(first).toISOString());
  expect(Date.parse((await tokens(service)).resets) - first).toBe(7 * day);
});

it("8 limit rendertokens: the week of the spring change has an hour less", async () => {
  await using service = await startService({ start: "2026-03-22T23:00:00Z" });
  expect(Date.parse((await tokens(service)).resets) - service.clock.now()).toBe(7 * day - hour);
});

it("8 limit rendertokens: unused tokens are not carried over", async () => {
  await using service = await startService({ rendertokenLimit: 5 });
  service.clock.advance(21 * day);
  expect(await tokens(service)).toMatchObject({ used: 0, limit: 5, remaining: 5 });
});
