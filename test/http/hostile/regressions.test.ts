import { expect, it } from "vitest";
import type { Case } from "./case.ts";
import { runCase } from "./run-case.ts";

/** Cases that `npm run fuzz` has found, by the behaviour that they check. */
const cases: Readonly<Record<string, Case>> = {
  "renders.wait continues after a response without a status": {
    calls: [{ operation: "renders.wait" }],
    moves: [{ mutate: { place: 0, value: null } }],
    responses: "report",
  },
  "renders.media continues after a response without a status": {
    calls: [{ operation: "renders.media, canceled" }],
    moves: [{}, { body: "null" }],
    responses: "report",
  },
  "an error names the order that was created when the order cannot be read": {
    calls: [{ operation: "orders.ensure" }],
    moves: [{}, { rejects: "reset" }, {}, { status: 400 }],
  },
  "the body of an unusable response is canceled": {
    calls: [{ operation: "orders.create" }],
    moves: [{ returns: "headers null", status: 200 }],
  },
  "a list ends in time when its next page has arrived before the first one is handed over": {
    calls: [{ operation: "orders.list", abortAt: 29_999, deadline: 1 }, { operation: "orders.create" }],
    moves: [
      { body: '{"orders":[],"nextCursor":""}', headers: [["retry-after", ""]] },
      { mutate: { place: 0, value: {} } },
    ],
    together: true,
  },
  "a call that does not wait for a distant token leaves no timer": {
    calls: [{ operation: "orders.create" }, { operation: "orders.create" }],
    moves: [{ status: 429, headers: [["retry-after", "Mon, 02 Nov 2026 09:00:00 GMT"]] }, { throws: "reset" }],
    together: true,
    skew: -3_600_000,
  },
};

it.each(Object.entries(cases))("%s", async (_, plan) => {
  expect(await runCase(plan)).toEqual([]);
});
