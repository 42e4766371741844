import { expect, it } from "vitest";
import { orderOf, subjects } from "../http/matrix/subjects.ts";
import { behindEachGateway, type GatewaySetup, setUp } from "./setup.ts";

/** The gateway responds with 504 long before the service has finished. */
const impatient = { serviceTimeout: 200 };
const late = { fault: "slow", when: "before", nth: 1 } as const;

/** A claim about an existing shipment. */
async function claimOn({ emulator, partner }: GatewaySetup) {
  const claim = subjects.find(({ name }) => name === "claims.createItemIssues");
  if (claim === undefined) throw new Error("No subject has this name.");
  return claim.prepare(partner(), emulator);
}

behindEachGateway((kind) => {
  it("an order and a claim that the service completes 6 s later are found, and not created again", async () => {
    await using setup = await setUp(kind, impatient);
    const { emulator } = setup;
    const { call } = await claimOn(setup);
    const before = await setup.made();
    for (const on of ["orders.create", "claims.createItemIssues"]) emulator.faults.add({ ...late, on, ms: 6_000 });
    const calls = [
      setup.partner().orders.create(orderOf(emulator, "shop-1")).withResponse(),
      call(setup.partner()).withResponse(),
    ];
    for (const { timeline } of await Promise.all(calls)) {
      expect(timeline[0]).toMatchObject({ step: "attempt", outcome: "504" });
      expect(timeline.filter(({ step }) => step === "attempt")).toHaveLength(1);
    }
    expect(await setup.made()).toEqual({ orders: before.orders + 1, claims: 1 });
  });

  it("a read is retried when the gateway times out", async () => {
    await using setup = await setUp(kind, impatient);
    setup.emulator.faults.add({ ...late, on: "organization.get", ms: 900 });
    const { timeline } = await setup.partner().organization.get().withResponse();
    const outcomes = timeline.filter(({ step }) => step === "attempt").map(({ outcome }) => outcome);
    // On a busy machine, the gateway gives up on the next attempts, too.
    expect(outcomes).toEqual([...outcomes.slice(1).map(() => "504"), "200"]);
    expect(outcomes.length).toBeGreaterThan(1);
  });
});
