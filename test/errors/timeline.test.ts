import { inspect } from "node:util";
import { PodPartner, PodPartnerError, type TimelineEntry } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { timelineTable } from "../../src/errors/base.ts";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { settle } from "../support/settle.ts";

const entry = (step: TimelineEntry["step"], outcome: string, at: number, took: number): TimelineEntry => ({
  step,
  outcome,
  at,
  took,
});

describe("the timeline table", () => {
  it("has a row for each step, and the total", () => {
    const entries = [
      entry("queue", "default", 0, 1_204.6),
      entry("attempt", "503", 1_205, 12.3),
      entry("backoff", "ServerError", 1_217.3, 180.2),
      entry("attempt", "RequestTimeoutError", 1_397.5, 30_000),
    ];
    expect(`\n${timelineTable(entries)}`).toBe(`
  step     outcome                began      took
  queue    default                 0 ms   1205 ms
  attempt  503                  1205 ms     12 ms
  backoff  ServerError          1217 ms    180 ms
  attempt  RequestTimeoutError  1398 ms  30000 ms
  total                                  31398 ms`);
  });

  it("is left out for a call of one attempt, and included for one that waited", () => {
    expect(timelineTable([])).toBe("");
    expect(timelineTable([entry("attempt", "404", 0, 12)])).toBe("");
    expect(timelineTable([entry("queue", "default", 0, 12)])).toContain("queue");
  });

  it("keeps the first and the last steps of a long call, and reports the number of omitted steps", () => {
    const entries = Array.from({ length: 100 }, (_, index) => entry("attempt", String(index), index, 1));
    const lines = timelineTable(entries).split("\n");
    expect(lines).toHaveLength(23);
    expect(lines[9]).toMatch(/^ {2}… +80 more/);
    expect(lines.at(-2)).toContain("99 ");
  });

  it("keeps an outcome on one line", () => {
    const table = timelineTable([entry("attempt", `a\nb${"c".repeat(500)}`, 0, 1), entry("attempt", "200", 1, 1)]);
    expect(table.split("\n")).toHaveLength(4);
    expect(table).toContain("a bccc");
    expect(Math.max(...table.split("\n").map(({ length }) => length))).toBeLessThan(90);
  });
});

describe("a printed error", () => {
  /** A client of a service that always responds like this, or never. It waits on the clock. */
  function connect(respond: () => Response | Promise<Response>) {
    const clock = createManualClock();
    const fetch = async (_: unknown, { signal }: RequestInit = {}) =>
      Promise.race([
        respond(),
        new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
        }),
      ]);
    const retry = { retries: 1, baseDelay: 10 };
    const partner = new PodPartner({ baseUrl: "http://partner.test/v2", secretKey, timeout: 250, retry, clock, fetch });
    /** The caller's own function, which awaits the call. */
    const own = async (call: PromiseLike<unknown>) => await call;
    return { partner, rejected: (call: PromiseLike<unknown>) => settle(clock, rejection(own(call)), 10) };
  }
  const down = () => Response.json({ code: "down", message: "Later." }, { status: 503 });
  const limited = () =>
    Response.json({ code: "rate_limited", message: "Slow." }, { status: 429, headers: { "retry-after": "1" } });
  const never = () => new Promise<never>(() => undefined);
  const pending = () =>
    Response.json({
      render: {
        reference: ref("Render"),
        compositionReference: ref("Composition"),
        imageReference: ref("Image"),
        status: "pending",
        created: "2026-11-20T09:00:00.000Z",
      },
    });
  const get = (partner: PodPartner) => partner.orders.get(ref("Order"), { timeout: 240 });

  it.each<[string, () => Response | Promise<Response>, (partner: PodPartner) => PromiseLike<unknown>, RegExp]>([
    ["ServerError", down, get, /attempt +503 .*\n +backoff +ServerError .*\n +attempt +503 .*\n +total/],
    [
      "RequestTimeoutError",
      never,
      get,
      /attempt +RequestTimeoutError .*\n +backoff +RequestTimeoutError .*\n +attempt +RequestTimeoutError /,
    ],
    ["RateLimitError", limited, get, /attempt +429 .*\n +retry-after .*\n(.*\n)* +attempt +429 /],
    [
      "DeadlineError",
      down,
      (partner) => partner.orders.get(ref("Order"), { deadline: 200, retry: { baseDelay: 1e6, maxDelay: 1e6 } }),
      /attempt +503 .*\n +backoff +ServerError/,
    ],
    [
      "OutcomeUnknownError",
      down,
      (partner) => partner.orders.create(combinedOrder),
      /attempt +503 .*\n +lookup +ServerError /,
    ],
    [
      "WaitTimeoutError",
      pending,
      (partner) => partner.renders.wait(ref("Render"), { deadline: 150, interval: 50 }),
      /lookup +pending .*\n +poll +waited .*\n +lookup +pending /,
    ],
  ])(
    "shows the table in a %s, above the caller's stack, with a message of one line",
    async (name, response, call, table) => {
      const { partner, rejected } = connect(response);
      const error = await rejected(call(partner));
      if (!PodPartnerError.isInstance(error)) throw error;
      expect(error.name).toBe(name);
      expect(inspect(error)).toMatch(table);
      expect(error.stack).toMatch(/total +\d+ ms\n +at /);
      expect(error.stack).toContain("timeline.test.ts");
      expect(error.message).not.toContain("total");
      expect(error.timeline.length).toBeGreaterThan(1);
    },
  );

  it("shows no key in the table when the service repeats it", async () => {
    const leaky = { status: 503, headers: { "x-echo": secretKey } };
    const { partner, rejected } = connect(() => Response.json({ code: secretKey, message: secretKey }, leaky));
    const text = inspect(await rejected(get(partner)));
    expect(text).toContain("total");
    expect(text).not.toContain(secretKey);
  });

  it("has no table after one attempt", async () => {
    const { partner, rejected } = connect(() => Response.json({ code: "not_found", message: "No." }, { status: 404 }));
    expect(inspect(await rejected(get(partner)))).not.toContain("total");
  });
});
