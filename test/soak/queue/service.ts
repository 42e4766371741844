/** The emulator in a process of its own, which outlives its clients. It breaks responses at random, and counts on request. */
import { startEmulator } from "../../../src/emulator/index.ts";
import { harsh } from "../../support/harsh.ts";
import type { Address } from "../messages.ts";
import { createRandom } from "../random.ts";
import type { Count } from "./messages.ts";

const emulator = await startEmulator({
  ...harsh,
  limits: { default: { quota: 1_000_000, window: 60_000 } },
  requestLog: { entries: 1 },
});
const { baseUrl, secretKey, demo, faults } = emulator;
const report = (message: Address | Count) => process.send?.(message);
const random = createRandom(20_261_127);
const requests = { seen: 0 };
let roll = 0;
const rolled = (from: number, to: number) => () => roll >= from && roll < to;

/** Of all requests, look-ups too, 20 % lose their response: half of them before they are carried out, or while they are. */
faults.add({
  nth: () => {
    requests.seen += 1;
    roll = random();
    return rolled(0, 0.08)();
  },
  fault: "drop",
});
faults.add({ nth: rolled(0.08, 0.16), fault: "drop", when: "before" });
faults.add({ nth: rolled(0.16, 0.18), fault: "status", status: 502 });
faults.add({ nth: rolled(0.18, 0.2), fault: "gateway", ms: 400, processing: 2_500, status: "drop" });
// Of the other requests for an order, some are carried out late, also when their client has been killed by then.
faults.add({ on: "orders.create", nth: rolled(0.2, 0.22), fault: "slow", ms: 20_000, when: "before" });

process.on("message", () => {
  const orders = emulator.world().organizations[0]?.orders ?? [];
  const identifiers = orders.map(({ customIdentifier }) => customIdentifier).filter((one) => one?.startsWith("soak-"));
  report({ orders: identifiers.length, identifiers: new Set(identifiers).size, requests: requests.seen });
});
process.once("disconnect", () => process.exit());
report({ baseUrl, secretKey, storeReference: demo.stores.api, productReference: demo.products.screenProtector });
