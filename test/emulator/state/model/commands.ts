import fc from "fast-check";
import {
  ControlError,
  type Emulator,
  validItemIssues,
  validOrder,
  validPackageMissing,
  validRender,
} from "pod-partner/testing";
import { expect } from "vitest";
import { type Bench, setUp } from "../../support.ts";
import { checkState, type Past } from "./invariants.ts";

/** What the commands know about the emulator: nothing but what its last state was. */
export interface Model {
  past: Past;
}

type Do = (bench: Bench, pick: (list: readonly string[]) => string) => Promise<unknown> | unknown;

/** A call or a control. The state after it must be one that the specification allows, whatever the emulator responded. */
class Step implements fc.AsyncCommand<Model, Bench> {
  readonly #name: string;
  readonly #run: Do;
  readonly #at: number;

  constructor(name: string, at: number, run: Do) {
    this.#name = name;
    this.#at = at;
    this.#run = run;
  }

  check = () => true;

  async run(model: Model, bench: Bench): Promise<void> {
    const pick = (list: readonly string[]) => list[this.#at % Math.max(list.length, 1)] ?? `None_${"0".repeat(26)}`;
    try {
      const response = await this.#run(bench, pick);
      const status = (response as { status?: number } | undefined)?.status ?? 200;
      expect(status).toBeLessThan(500);
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
    }
    model.past = checkState(bench.emulator, model.past);
  }

  toString = () => `${this.#name}(${this.#at})`;
}

const demo = (emulator: Emulator) => {
  const [organization] = emulator.world().organizations;
  if (organization === undefined) throw new Error("no organization");
  return organization;
};
const references = (list: readonly { readonly reference: string }[]) => list.map(({ reference }) => reference);
const orders = ({ emulator }: Bench) => references(demo(emulator).orders);
const claims = ({ emulator }: Bench) => references(demo(emulator).claims);
const renders = ({ emulator }: Bench) => references(demo(emulator).renders);

const quantity = fc.integer({ min: 0, max: 4 });
const position = fc.nat(7);

/** A command with random numbers. */
const step = (name: string, run: (numbers: readonly [number, number], ...given: Parameters<Do>) => ReturnType<Do>) =>
  fc
    .tuple(position, quantity, quantity)
    .map(([at, one, other]) => new Step(`${name} ${one} ${other}`, at, (...given) => run([one, other], ...given)));

/** Every call and control that changes the state. */
export const commands = [
  step("place", ([index], { post, emulator }) => {
    const [line] = validOrder(emulator).orderlines;
    if (line === undefined) throw new Error("no line");
    const orderlines = [
      { ...line, quantity: index + 1 },
      { ...line, quantity: 2 },
    ];
    const order =
      index % 2 === 0
        ? validOrder(emulator, { orderlines })
        : validOrder(emulator, { orderlines, shippingKind: "combined" });
    return post("/orders", { order });
  }),
  step("cancel", ([one, other], bench, pick) => {
    const orderlines = [
      { index: 1, canceledQuantity: one },
      { index: 2, canceledQuantity: other },
    ];
    return bench.post(`/orders/${pick(orders(bench))}/cancel`, { orderlines });
  }),
  step("replace address", (_numbers, bench, pick) =>
    bench.put(`/orders/${pick(orders(bench))}/dropship-address`, {
      dropshipAddress: { ...validOrder(bench.emulator).dropshipAddress, city: "Utrecht" },
    }),
  ),
  step("ship", ([one, other], bench, pick) => {
    const lines = [
      { index: 1, quantity: one },
      { index: 2, quantity: other },
    ];
    return void bench.emulator.ship(pick(orders(bench)) as never, one === 4 ? {} : { lines });
  }),
  step(
    "ship together",
    ([one], bench, pick) => void bench.emulator.ship([pick(orders(bench)), orders(bench).at(one - 1)] as never),
  ),
  step("start production", (_numbers, bench, pick) => bench.emulator.startProduction(pick(orders(bench)) as never)),
  step("hold", (_numbers, bench, pick) => bench.emulator.hold(pick(orders(bench)) as never, "no stock")),
  step("release", (_numbers, bench, pick) => bench.emulator.release(pick(orders(bench)) as never)),
  step("claim items", ([one, other], bench, pick) => {
    const shipments = demo(bench.emulator).shipments;
    const reference = pick(references(shipments));
    const order = shipments.find((shipment) => shipment.reference === reference)?.parcels[0]?.orderReference;
    const [line] = validItemIssues(bench.emulator).claimlines;
    if (line === undefined || order === undefined) return undefined;
    const claimlines = [{ ...line, orderlineIndex: 1 + (other % 2), quantity: one }];
    const claim = { shipmentReference: reference, orderReference: order, claimlines };
    return bench.post("/claim-item-issues", { claim });
  }),
  step("claim package", (_numbers, { emulator, post }, pick) => {
    const shipmentReference = pick(references(demo(emulator).shipments));
    return post("/claim-package-missing", { claim: { shipmentReference, evidenceReferences: [] } });
  }),
  step("claim a seeded package", (_numbers, { emulator, post }) =>
    post("/claim-package-missing", { claim: validPackageMissing(emulator) }),
  ),
  step("retract", (_numbers, bench, pick) => bench.send("POST", `/claims/${pick(claims(bench))}/retract`)),
  step("review", ([one], bench, pick) => {
    const decision = (["replacement", "refund", "rejection"] as const)[one % 3] ?? "refund";
    return void bench.emulator.reviewClaim(pick(claims(bench)) as never, { decision });
  }),
  step("render", (_numbers, { emulator, post }) => post("/renders", { render: validRender(emulator) })),
  step("finish render", ([one], bench, pick) => {
    const render = pick(renders(bench)) as never;
    return one % 2 === 0 ? bench.emulator.completeRender(render) : bench.emulator.failRender(render);
  }),
  step("drain", ([one], { emulator }) => emulator.drain("default", { tokens: one * 900 })),
  step("days pass", ([one], { emulator }) => emulator.clock.advance({ days: one * 7 })),
  step("save and load", (_numbers, { emulator }) => emulator.load(JSON.parse(JSON.stringify(emulator.world())))),
  step("rewind to now", (_numbers, { emulator }) => {
    emulator.checkpoint();
    emulator.rewind();
  }),
];

/** An emulator with few tokens and small pages, and the model of its start. */
export const start = () => {
  const real = setUp({ pageSize: 3, rendertokenLimit: 3, seed: { orders: 2 } });
  return { model: { past: { quantities: new Map(), closedClaims: new Map() } } as Model, real };
};
