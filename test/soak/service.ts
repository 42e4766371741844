/** The service in a separate process, so that it outlives its clients: it loses responses at random, and reports its counts on request. */
import { startEmulator } from "../../src/emulator/index.ts";
import { harsh } from "../support/harsh.ts";
import type { Address, Count } from "./messages.ts";
import { createRandom } from "./random.ts";

const emulator = await startEmulator({
  ...harsh,
  limits: { default: { quota: 1_000_000, window: 60_000 } },
  pageSize: 1_000,
});
const report = (message: Address | Count) => process.send?.(message);
const requests = { seen: 0 };

/** Of all requests, look-ups too, 20 % lose their response, and 5 % get a 5xx: half of them before they are processed. */
function breakAnswers(): void {
  const random = createRandom(20_261_121);
  let roll = 0;
  const rolled = (from: number, to: number) => () => roll >= from && roll < to;
  const throwDice = () => {
    requests.seen += 1;
    roll = random();
    return rolled(0, 0.2)();
  };
  // The first fault is evaluated first: it draws the random number for all.
  emulator.faults.add({ nth: throwDice, fault: "drop" });
  emulator.faults.add({ nth: rolled(0.2, 0.225), fault: "status", status: 503, when: "before" });
  emulator.faults.add({ nth: rolled(0.225, 0.25), fault: "status", status: 502 });
}

process.on("message", () => {
  const orders = emulator.world().organizations[0]?.orders.length ?? 0;
  report({ orders, requests: requests.seen });
});
process.once("disconnect", () => process.exit());
breakAnswers();
const { baseUrl, secretKey, demo } = emulator;
report({ baseUrl, secretKey, storeReference: demo.stores.api, productReference: demo.products.screenProtector });
