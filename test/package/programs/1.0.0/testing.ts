/** The emulator of 1.0.0. It is compiled, not run. */
import { PodPartner } from "pod-partner";
import {
  ControlError,
  createEmulator,
  createManualClock,
  emulatorHandlers,
  sampleImage,
  startEmulator,
  validAddress,
  validOrder,
  validQuote,
} from "pod-partner/testing";

const clock = createManualClock();
const emulator = createEmulator({
  secretKey: "emulator-secret-key",
  baseUrl: "http://emulator.test/v2",
  environment: "production",
  clock,
  seed: { number: 1, orders: [{ customIdentifier: "shop-1", orderlines: [{ quantity: 2 }] }], images: [] },
  pageSize: 10,
  limits: { default: { quota: 20, window: 4_000 } },
  rendertokenLimit: 100,
  renderDuration: 0,
  keys: [{ secretKey: "a-second-key", permissions: ["orders.*"] }],
  organizations: [
    { name: "Other", keys: [{ secretKey: "key-of-the-other" }], stores: [{ name: "Shop", legacyCode: "S" }] },
  ],
  unavailable: ["orders.quote"],
  repeatedIdentifier: "refuse",
  shapes: "minimal",
  requestLog: { entries: 100, bytes: 1_000_000 },
  callbackUrl: "http://127.0.0.1:3000/callbacks",
  allowRemote: false,
  assumptions: { shipmentsField: "shipments", errorField: "error" },
});
export const partner = new PodPartner({ ...emulator.clientOptions, responses: "report" });
export const handlers = emulatorHandlers(emulator);

export async function test(): Promise<void> {
  const order = validOrder(emulator, { customIdentifier: "shop-2", dropshipAddress: validAddress({ city: "Delft" }) });
  const { reference } = await partner.orders.ensure(order);
  await partner.orders.quote(validQuote(emulator));
  await partner.images.upload(sampleImage("rings"));
  const { id } = emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop", when: "after" });
  emulator.faults.add({ fault: "status", status: 503, code: "down" });
  emulator.faults.add({ on: "orders.*", fault: "slow", ms: 1_000 });
  emulator.faults.clear();
  emulator.startProduction(reference);
  emulator.hold(reference, "Out of ink");
  emulator.release(reference);
  try {
    console.log(id, emulator.ship(reference, { lines: [{ index: 1, quantity: 1 }] }), emulator.ship(reference));
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
  }
  await emulator.clock.advance({ days: 3 });
  await clock.advance(1_000);
  emulator.drain("uploads", { tokens: 5 });
  const world = emulator.world();
  emulator.load(world);
  for (const { method, path, status, fault } of emulator.requests) console.log(method, path, status, fault);
  const running = await startEmulator({ port: 0, host: "127.0.0.1" });
  console.log(running.baseUrl, running.secretKey, running.demo.stores.api, running.demo.products.slimCase);
  await running.close();
}
