/** The service in a process of its own: the emulator, which responds 5 ms late. It accepts an identifier twice. */
import { startEmulator } from "../../../src/emulator/index.ts";
import { harsh } from "../../support/harsh.ts";

const emulator = await startEmulator({
  ...harsh,
  port: 0,
  limits: { default: { quota: 10_000_000, window: 60_000 } },
  requestLog: { entries: 1 },
});
const { baseUrl, secretKey, demo, faults, requests } = emulator;
faults.add({ fault: "slow", ms: 5 });

process.once("disconnect", () => process.exit());
process.on("message", () => {
  const identifiers = emulator.world().organizations[0]?.orders.map(({ customIdentifier }) => customIdentifier) ?? [];
  const orders = identifiers.filter((one) => one?.startsWith("bench-"));
  process.send?.({ requests: requests.at(-1)?.id ?? 0, orders: orders.length, identifiers: new Set(orders).size });
});
process.send?.({
  baseUrl,
  secretKey,
  storeReference: demo.stores.api,
  productReference: demo.products.screenProtector,
});
