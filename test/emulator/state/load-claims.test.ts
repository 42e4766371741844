import { describe, expect, it } from "vitest";
import { unknownReference as unknown } from "../support.ts";
import { type Broken, issuesOf } from "./broken-world.ts";

describe("claims, evidence and renders that contradict each other are refused", () => {
  it.each<[string, (world: Broken, demo: Broken) => void, RegExp]>([
    [
      "an unknown shipment",
      (_, { claims }) => Object.assign(claims[0], { shipmentReference: unknown("Shipment") }),
      /claims\.0\.shipmentReference: Claim_\w+ names Shipment_0+/,
    ],
    [
      "an unknown category",
      (_, { claims }) => Object.assign(claims[0].lines[0], { categoryReference: unknown("Claimcategory") }),
      /claims\.0\.lines\.0\.categoryReference: .* names Claimcategory_0+/,
    ],
    [
      "a line that was not shipped",
      (_, { claims }) => Object.assign(claims[0].lines[0], { orderlineIndex: 3 }),
      /claims line 3 of Order_\w+, which its shipment does not have/,
    ],
    [
      "more items than were shipped",
      (_, { claims }) => Object.assign(claims[0].lines[0], { quantity: 3 }),
      /claims 3 of 2 shipped items/,
    ],
    [
      "a decision about other lines",
      (_, { claims }) =>
        Object.assign(claims[0], {
          decision: { award: "refund", decided: 0, refundShippingCosts: false, comment: "", lines: [] },
        }),
      /has 0 decisions for 1 lines/,
    ],
    [
      "a decision about other quantities",
      (_, { claims }) =>
        Object.assign(claims[0], {
          decision: {
            award: "refund",
            decided: 0,
            refundShippingCosts: false,
            comment: "",
            lines: [{ replacement: 0, refund: 2, rejection: 0, comment: "" }],
          },
        }),
      /decides on 2 of 1 items/,
    ],
    [
      "a replacement that settles another claim",
      (_, { claims, orders }) => Object.assign(claims[0], { replacement: orders[0].reference }),
      /which settles no claim/,
    ],
    [
      "evidence of an unknown claim",
      (_, { evidence }) => Object.assign(evidence[0], { claim: unknown("Claim") }),
      /evidence\.0\.claim: Evidence_\w+ names Claim_0+/,
    ],
    [
      "evidence that its claim does not have",
      (_, { claims }) => Object.assign(claims[0].lines[0], { evidence: [] }),
      /is not evidence of Claim_/,
    ],
    [
      "evidence of a claim that does not use it",
      (_, { evidence }) => delete evidence[0].claim,
      /claims\.0\.evidence: .* which belongs to no claim/,
    ],
    [
      "a render of an unknown image",
      (_, { renders }) => Object.assign(renders[0], { imageReference: unknown("Image") }),
      /renders\.0\.imageReference: .* names Image_0+/,
    ],
    [
      "a render of an unknown composition",
      (_, { renders }) => Object.assign(renders[0], { compositionReference: unknown("Composition") }),
      /names Composition_0+/,
    ],
  ])("%s", async (_case, change, issue) => {
    expect(await issuesOf(change)).toContainEqual(expect.stringMatching(issue));
  });
});

describe("pending work, callbacks, counters and faults that contradict the records are refused", () => {
  const taskOf = ({ tasks }: Broken, kind: string) => tasks.find(({ task }: Broken) => task.kind === kind);

  it.each<[string, (world: Broken, demo: Broken) => void, RegExp]>([
    [
      "a task about an unknown order",
      (world) => Object.assign(taskOf(world, "startProduction").task, { order: unknown("Order") }),
      /^world\.tasks\.\d+: the task startProduction is about Order_0+/,
    ],
    [
      "a task about an unknown claim",
      (world) => Object.assign(taskOf(world, "reviewClaim").task, { claim: unknown("Claim") }),
      /the task reviewClaim is about Claim_0+/,
    ],
    [
      "a task about an unknown render",
      (world) => Object.assign(taskOf(world, "finishRender").task, { render: unknown("Render") }),
      /the task finishRender is about Render_0+/,
    ],
    [
      "a task about an unknown callback",
      (world) => Object.assign(taskOf(world, "callback").task, { id: 7 }),
      /the task callback is about the waiting callback 7/,
    ],
    [
      "a waiting callback without a task",
      (world) => Object.assign(world, { tasks: [] }),
      /^world\.callbacks\.0\.status: the callback 1 waits, but no task sends it/,
    ],
    [
      "a callback of an unknown order",
      ({ callbacks }) => Object.assign(callbacks[0], { orderReference: unknown("Order") }),
      /^world\.callbacks\.0\.orderReference: names Order_0+/,
    ],
    [
      "a callback of another store",
      ({ callbacks }, { stores }) => Object.assign(callbacks[0], { storeReference: stores[1].reference }),
      /^world\.callbacks\.0\.storeReference: .* but the store of the order is/,
    ],
    [
      "a waiting callback without a next try",
      ({ callbacks }) => Object.assign(callbacks[0], { nextTryAt: null }),
      /callbacks\.0\.nextTryAt: must be a time/,
    ],
    [
      "a callback with more tries than it counts",
      ({ callbacks }) => Object.assign(callbacks[0], { tried: 0 }),
      /callbacks\.0\.tried: is 0, but there are 1 tries/,
    ],
    [
      "a callback that occurs twice",
      ({ callbacks }) => callbacks.push(callbacks[0]),
      /callbacks\.1\.id: 1 occurs more than once/,
    ],
    [
      "a counter that goes back",
      ({ references }) => Object.assign(references, { Order: 2 }),
      /^world\.references\.Order: is 2, but the world has reference number 3/,
    ],
    [
      "a counter that is missing",
      ({ references }) => delete references.Claim,
      /^world\.references\.Claim: is 0, but the world has reference number 1/,
    ],
    [
      "a fault of an unknown call",
      ({ faults }) => Object.assign(faults[0].fault, { on: "orders.eat" }),
      /^world\.faults\.0\.fault: .*orders\.eat/s,
    ],
    [
      "a fault with more hits than requests",
      ({ faults }) => Object.assign(faults[0], { hits: 3 }),
      /^world\.faults\.0\.hits: is 3, but only 0 requests were seen/,
    ],
  ])("%s", async (_case, change, issue) => {
    expect(await issuesOf(change)).toContainEqual(expect.stringMatching(issue));
  });
});
