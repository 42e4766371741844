import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, differences, madeIn, repeatedOrders } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { hammering, leaks, unread } from "../../src/cli/verify-compare.ts";
import { orderOf } from "../http/matrix/subjects.ts";
import { setUp } from "../support/setup.ts";

type Made = readonly [name: string, quantity?: number];

/** A run of its own. The service creates an order for each request, also for a repeated identifier. */
function startRun() {
  const { emulator, partner, settle } = setUp({ repeatedIdentifier: "create", seed: { number: 1 } });
  const place = async ([customIdentifier, quantity = 2]: Made) => {
    const order = orderOf(emulator, customIdentifier);
    const orderlines = order.orderlines.map((line) => ({ ...line, quantity }));
    return (await settle(partner.orders.create({ ...order, orderlines }))).reference;
  };
  return {
    emulator,
    place,
    settle: <T>(call: (client: typeof partner) => PromiseLike<T>) => settle(call(partner)),
    result: () => madeIn(emulator.world()),
  };
}

/** How the result of a run that made `found` differs from that of one that made `expected`. */
async function differencesBetween(expected: readonly Made[], found: readonly Made[]) {
  const [calm, run] = [startRun(), startRun()];
  for (const order of expected) await calm.place(order);
  for (const order of found) await run.place(order);
  return differences(calm.result(), run.result()).map(({ kind, text }) => `${kind}: ${text}`);
}

it("finds an identifier that has several orders in one run, whatever is in them", async () => {
  const run = startRun();
  for (const order of [["a"], ["b", 1], ["b", 3], ["c"], ["c"]] as const) await run.place(order);
  expect(repeatedOrders(run.result())).toEqual([{ kind: "doubled", text: "made twice: c, b" }]);
});

describe("the orders of two runs", () => {
  it.each<[string, readonly Made[], readonly Made[], readonly string[]]>([
    ["are the same in any order, whatever their identifiers", [["a", 1], ["b"]], [["x"], ["y", 1]], []],
    [
      "differ by one that is made twice, which is named also among equal ones",
      [["shop-1"], ["shop-2"]],
      [["shop-1"], ["shop-1"], ["shop-2"]],
      ["doubled: made twice: shop-1"],
    ],
    [
      "differ by any one of equal ones, if identifiers are random",
      [["a"], ["b"]],
      [["x"], ["y"], ["z"]],
      ["doubled: made twice: one of x, y, z (the same content)"],
    ],
    [
      "differ by one whose identifier is there twice, if identifiers are random",
      [["a"], ["b"]],
      [["x"], ["y"], ["x"]],
      ["doubled: made twice: x"],
    ],
    [
      "differ by one that is missing, and one that is there instead",
      [["shop-1", 1]],
      [["shop-2", 9]],
      ["missing: missing: shop-1", "doubled: made although the run without a fault did not: shop-2"],
    ],
    [
      "differ by one that has another content",
      [["shop-1", 1]],
      [["shop-1", 9]],
      ["different: not as in the run without a fault: shop-1 (lines[0].quantity is 9 instead of 1)"],
    ],
    [
      "differ by the one of several equal orders that is missing",
      [["shop-1"], ["shop-2"]],
      [["shop-2"]],
      ["missing: missing: shop-1"],
    ],
    [
      "differ by the one of several equal orders that has become another one",
      [["shop-1"], ["shop-2"]],
      [["shop-1", 9], ["shop-2"]],
      ["different: not as in the run without a fault: shop-1 (lines[0].quantity is 9 instead of 2)"],
    ],
    [
      "are named up to three",
      ["a", "b", "c", "d", "e"].map((name): Made => [name]),
      [],
      ["missing: missing: a, b, c and 2 more"],
    ],
  ])("%s", async (_, expected, found, texts) => {
    expect(await differencesBetween(expected, found)).toEqual(texts);
  });

  it("differ by an address", async () => {
    const [calm, moved] = [startRun(), startRun()];
    await calm.place(["shop-1"]);
    const order = orderOf(moved.emulator, "shop-1");
    const dropshipAddress = { ...order.dropshipAddress, city: "Utrecht" };
    await moved.settle(({ orders }) => orders.create({ ...order, dropshipAddress }));
    expect(differences(calm.result(), moved.result())).toEqual([
      {
        kind: "different",
        text: 'not as in the run without a fault: shop-1 (address.city is "Utrecht" instead of "Amsterdam")',
      },
    ]);
  });

  it("differ by what was canceled, and not by what was shipped", async () => {
    const [calm, shipped, canceled] = [startRun(), startRun(), startRun()];
    await calm.place(["shop-1"]);
    shipped.emulator.ship(await shipped.place(["shop-1"]));
    const reference = await canceled.place(["shop-1"]);
    await canceled.settle(({ orders }) => orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }]));
    expect(differences(calm.result(), shipped.result())).toEqual([]);
    expect(differences(calm.result(), canceled.result())).toEqual([
      {
        kind: "different",
        text: "not as in the run without a fault: shop-1 (lines[0].canceledQuantity is 1 instead of 0)",
      },
    ]);
  });
});

describe("the claims of two runs", () => {
  /** A run with claims about an order, of which `retracted` are retracted. */
  async function claiming(identifier: string, claims: number, { retracted = 0, quantity = 1 } = {}) {
    const run = startRun();
    const orderReference = await run.place([identifier, 3]);
    const shipmentReference = run.emulator.ship(orderReference);
    const { wrongItem } = run.emulator.demo.claimcategories;
    const claimlines = [{ orderlineIndex: 1, quantity, claimcategoryReference: wrongItem }];
    for (let number = 1; number <= claims; number += 1) {
      const made = await run.settle((partner) =>
        partner.claims.createItemIssues({ orderReference, shipmentReference, claimlines }),
      );
      if (number <= retracted) await run.settle((partner) => partner.claims.retract(made.reference));
    }
    return run;
  }

  it("differ by one that is filed twice, whatever the identifier of its order", async () => {
    const [calm, other, twice] = [await claiming("a", 1), await claiming("b", 1), await claiming("c", 2)];
    expect(differences(calm.result(), other.result())).toEqual([]);
    expect(differences(calm.result(), twice.result())).toEqual([
      { kind: "doubled", text: "made twice: the claim about c" },
    ]);
  });

  it.each([
    ["that is retracted", { retracted: 1 }, "retracted is true instead of false"],
    ["about more units", { quantity: 2 }, "lines[0].quantity is 2 instead of 1"],
  ])("differ by one %s", async (_, other, change) => {
    const [calm, changed] = [await claiming("a", 1), await claiming("a", 1, other)];
    expect(differences(calm.result(), changed.result())).toEqual([
      { kind: "different", text: `not as in the run without a fault: the claim about a (${change})` },
    ]);
  });

  it("do not count the orders that replace what was claimed", async () => {
    const [calm, replaced] = [await claiming("a", 1), await claiming("a", 1)];
    const [claim] = replaced.emulator.world().organizations.flatMap(({ claims }) => claims);
    if (claim === undefined) throw new Error("There is no claim");
    replaced.emulator.reviewClaim(claim.reference, { decision: "replacement" });
    expect(differences(calm.result(), replaced.result())).toEqual([]);
  });
});

describe("the requests of a run", () => {
  /** An emulator that refuses the first request, and `send`, which needs no client and so does not wait. */
  function refusing(retryAfter?: number, status = 429) {
    const clock = createManualClock();
    const emulator = createEmulator({ clock });
    emulator.faults.add({
      on: "organization.stores.list",
      nth: 1,
      fault: "status",
      status,
      code: "refused",
      ...(retryAfter !== undefined && { retryAfter }),
    });
    const send = (path = "/stores") =>
      emulator
        .fetch(emulator.baseUrl + path, { headers: { "X-Service-Secret-Key": emulator.secretKey } })
        .then((response) => response.text());
    return { clock, emulator, send };
  }

  it("are too many when they are more than ten times as many as without a fault, and a hundred", async () => {
    const { emulator, send } = refusing(1_000);
    for (let number = 0; number <= 130; number += 1) await send("/accounts");
    expect(hammering(emulator.requests, 3)).toEqual([{ kind: "hammered", text: "131 requests, 3 without a fault" }]);
    expect(hammering(emulator.requests.slice(1), 3)).toEqual([]);
  });

  it("must wait as long as Retry-After says, but for a tolerance of 250 ms; those of another endpoint need not", async () => {
    const { clock, emulator, send } = refusing(2_000);
    await send();
    await clock.advance(251);
    await send("/accounts");
    await send();
    await clock.advance(1_500);
    await send();
    expect(hammering(emulator.requests, 5)).toEqual([
      { kind: "hammered", text: "1 requests before the time of Retry-After" },
    ]);
  });

  it.each([
    ["a 429 without Retry-After", undefined, 429],
    ["Retry-After of another status", 60_000, 503],
  ])("need not wait after %s", async (_, retryAfter, status) => {
    const { clock, emulator, send } = refusing(retryAfter, status);
    await send();
    await clock.advance(1_000);
    await send();
    expect(hammering(emulator.requests, 2)).toEqual([]);
  });

  it("must have the key in its header only", async () => {
    const { emulator, send } = refusing(1_000);
    await send("/accounts");
    expect(leaks(emulator.requests)).toEqual([]);
    await send(`/accounts?key=${emulator.secretKey}`);
    expect(leaks(emulator.requests)).toEqual([
      { kind: "leaked", text: "the key is in the URL or body of GET organization.accounts.list" },
    ]);
  });

  it("must not be more than the log keeps", async () => {
    const emulator = createEmulator({ requestLog: { entries: 2 } });
    const send = () => emulator.fetch(`${emulator.baseUrl}/stores`);
    expect(unread(emulator.requests)).toEqual([]);
    await send();
    await send();
    expect(unread(emulator.requests)).toEqual([]);
    await send();
    expect(unread(emulator.requests)).toEqual([
      { kind: "unread", text: "3 requests are more than verify can read: give it less work" },
    ]);
  });

  it("must not have the key in a body", async () => {
    const { emulator } = refusing(1_000);
    const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, fetch: emulator.fetch });
    await partner.request("POST", "/orders", { body: { key: emulator.secretKey } }).catch(() => undefined);
    expect(leaks(emulator.requests)).toMatchObject([{ kind: "leaked" }]);
  });
});
