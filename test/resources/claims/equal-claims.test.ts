import { describe, expect, it } from "vitest";
import { claimable } from "../../http/matrix/subjects.ts";
import { setUp } from "../../support/setup.ts";

const lost = { on: "claims.createItemIssues", fault: "drop" } as const;

/** A shipment of two units, and a claim about one of them that can be filed twice. */
async function shipped(options: Parameters<typeof setUp>[0] = {}) {
  const setup = setUp(options);
  const { emulator, partner, settle } = setup;
  const input = await settle(claimable(partner, emulator));
  return { ...setup, input, claims: async () => (await settle(setup.connect().claims.list().toArray())).length };
}

describe("a claim that is equal to another one (law 2)", () => {
  it("is filed when its first request is lost before the service processes it", async () => {
    const { clock, emulator, partner, settle, input, claims } = await shipped();
    const first = await settle(partner.claims.createItemIssues(input));
    await clock.advance(30);
    emulator.faults.add({ ...lost, nth: 1, when: "before" });
    const second = await settle(partner.claims.createItemIssues(input));
    expect(second).toMatchObject({ recovered: false });
    expect(second.reference).not.toBe(first.reference);
    expect(await claims()).toBe(2);
  });

  it("is found when its response is lost after the service has processed it", async () => {
    const { clock, emulator, partner, settle, input, claims } = await shipped();
    const first = await settle(partner.claims.createItemIssues(input));
    await clock.advance(30);
    emulator.faults.add({ ...lost, nth: 1 });
    const second = await settle(partner.claims.createItemIssues(input));
    expect(second).toMatchObject({ recovered: true });
    expect(second.reference).not.toBe(first.reference);
    expect(await claims()).toBe(2);
  });

  it("is found on a later page of the list, behind claims of others", async () => {
    const { clock, connect, emulator, partner, settle, input, claims } = await shipped({ pageSize: 1 });
    emulator.faults.add({ ...lost, nth: 1 });
    const looked = partner.claims.createItemIssues({ ...input, comment: "mine" });
    const others = connect().claims.createItemIssues({ ...input, comment: "another" });
    const [mine, other] = await settle(Promise.all([looked, others]));
    await clock.advance(1_000);
    expect([mine.recovered, other.recovered, mine.reference === other.reference]).toEqual([true, false, false]);
    expect(await claims()).toBe(2);
  });

  it("is filed when both are created at the same time and each response is lost", async () => {
    const { emulator, partner, settle, input, claims } = await shipped();
    emulator.faults.add({ ...lost, nth: 1 });
    emulator.faults.add({ ...lost, nth: 2 });
    const both = await settle(
      Promise.all([partner.claims.createItemIssues(input), partner.claims.createItemIssues(input)]),
    );
    expect(new Set(both.map(({ reference }) => reference)).size).toBe(2);
    expect(both.map(({ recovered }) => recovered)).toEqual([true, true]);
    expect(await claims()).toBe(2);
  });

  it("is a new one once the doubt of an earlier call has been settled", async () => {
    const { clock, emulator, partner, settle, input, claims } = await shipped();
    emulator.faults.add({ on: "claims.createItemIssues", nth: 1, fault: "slow", ms: 60_000, when: "after" });
    const end = new AbortController();
    const stopped = partner.claims.createItemIssues(input, { signal: end.signal }).catch(() => undefined);
    await clock.advance(1_000);
    end.abort();
    await stopped;
    const found = await settle(partner.claims.createItemIssues(input));
    expect(found).toMatchObject({ existed: true });
    await clock.advance(10_000);
    const before = emulator.requests.length;
    expect(await settle(partner.claims.createItemIssues(input))).toMatchObject({ existed: false, recovered: false });
    expect(emulator.requests.slice(before).map(({ method }) => method)).toEqual(["POST"]);
    expect(await claims()).toBe(2);
  });

  it.each([
    ["claims.list", 30],
    ["claims.get", 30],
    ["the service's `Date`", 5_000],
  ])("is filed beside a claim of another client that differs in %s", async (how, ms) => {
    const { clock, connect, emulator, partner, settle, input, claims } = await shipped();
    const other = await settle(connect().claims.createItemIssues(input));
    await clock.advance(ms);
    if (how === "claims.list") await settle(partner.claims.list().toArray());
    if (how === "claims.get") await settle(partner.claims.get(other.reference));
    await clock.advance(1);
    emulator.faults.add({ ...lost, nth: 1, when: "before" });
    const mine = await settle(partner.claims.createItemIssues(input));
    expect(mine.reference).not.toBe(other.reference);
    expect(await claims()).toBe(2);
  });
});

describe("a claim with the same lines and another comment, filed by another client meanwhile", () => {
  /** The own request is lost, and the claim of another client is in the list. */
  async function beside(own: string | undefined, other: string | undefined, when: "before" | "after" = "before") {
    const setup = await shipped();
    const { emulator, partner, settle, input, connect } = setup;
    const withComment = (comment: string | undefined) => (comment === undefined ? input : { ...input, comment });
    emulator.faults.add({ ...lost, nth: 1, when });
    const mine = partner.claims.createItemIssues(withComment(own)).then(
      ({ reference, recovered }) => ({ reference, recovered, name: "" }),
      ({ name }: Error) => ({ reference: undefined, recovered: false, name }),
    );
    const [ending, theirs] = await settle(
      Promise.all([mine, connect().claims.createItemIssues(withComment(other)).withResponse()]),
    );
    return { ...setup, ending, theirs: theirs.data.reference };
  }

  it.each([
    ["of the first return", "of the second return"],
    ["of the first return", undefined],
    [undefined, "of the second return"],
    ["of the first return", ""],
    ["", "of the second return"],
  ])("is not taken for the own one: %j beside %j", async (own, other) => {
    const { ending, claims } = await beside(own, other);
    expect(ending.name).toBe("OutcomeUnknownError");
    expect(await claims()).toBe(1);
  });

  it("leaves the own one to be found by its comment", async () => {
    const { ending, theirs, claims } = await beside("of the first return", "of the second return", "after");
    expect(ending.recovered).toBe(true);
    expect(ending.reference).not.toBe(theirs);
    expect(await claims()).toBe(2);
  });
});

describe("a comment that the service has changed", () => {
  it.each([
    ["its spaces", (text: string) => ` ${text.replaceAll(" ", "\n")} `],
    ["its case", (text: string) => text.toUpperCase()],
    ["the form of its characters", (text: string) => text.normalize("NFD")],
    ["its accents", (text: string) => text.replace("é", "e")],
    ["its symbols", (text: string) => text.replace("🙁", "?")],
    ["nothing but left it out", () => undefined],
  ])("in %s still belongs to the claim that was sent", async (_, change) => {
    const setup = await shipped();
    const { emulator, connect, settle, input } = setup;
    emulator.faults.add({ ...lost, nth: 1 });
    const fetch: typeof globalThis.fetch = async (given, init) => {
      const request = new Request(given, init);
      const response = await emulator.fetch(request);
      if (!/\/claims\/\w+$/.test(request.url) || request.method !== "GET") return response;
      const { claim } = (await response.json()) as { claim: { comment: string } };
      return Response.json({ claim: { ...claim, comment: change(claim.comment) } }, { headers: response.headers });
    };
    const claim = { ...input, comment: "Scratched at the café 🙁" };
    expect(await settle(connect({ fetch }).claims.createItemIssues(claim))).toMatchObject({ recovered: true });
    expect(await setup.claims()).toBe(1);
  });
});
