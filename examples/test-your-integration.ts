/** Tests your own code without a network and without sleeping: the emulator runs in the process, on a clock that you move. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type OrderReference, PodPartner, RenderFailedError } from "pod-partner";
import { createEmulator, createManualClock, sampleImage } from "pod-partner/testing";

function setUp() {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, seed: { orders: 1 } });
  return { clock, emulator, demo: emulator.demo, partner: new PodPartner(emulator.clientOptions) };
}

/** Your own code: the text that your shop shows to a customer. */
async function progressOf(partner: PodPartner, reference: OrderReference): Promise<string> {
  const { onHold, orderlines } = await partner.orders.get(reference);
  if (onHold !== null) return `on hold: ${onHold.reason}`;
  return orderlines.every((line) => line.shippedQuantity === line.quantity) ? "on its way" : "being made";
}

it("shows a customer where the order is", async () => {
  const { emulator, partner } = setUp();
  const [order] = await partner.orders.list().toArray();
  assert(order);
  assert.equal(await progressOf(partner, order.reference), "being made");
  emulator.hold(order.reference, "the image is blurred");
  assert.equal(await progressOf(partner, order.reference), "on hold: the image is blurred");
  emulator.release(order.reference);
  emulator.ship(order.reference);
  assert.equal(await progressOf(partner, order.reference), "on its way");
});

it("waits for a render without sleeping", async () => {
  const { clock, emulator, demo, partner } = setUp();
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  const { reference: compositionReference } = await partner.compositions.lookup({
    sceneReference: demo.scenes.desk,
    productReference: demo.products.toughCase,
    perspectiveReference: demo.perspectives.front,
  });
  const { reference } = await partner.renders.create({ compositionReference, imageReference });
  const outcome = assert.rejects(partner.renders.wait(reference), RenderFailedError);
  await clock.advance(1_000);
  emulator.failRender(reference);
  await clock.advance(60_000);
  await outcome;
  assert.equal(clock.pending, 0);
});
