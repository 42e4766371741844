/** Prints whether the ES modules and the CommonJS modules of the package work with each other, in both directions. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const doors = ["pod-partner", "pod-partner/callbacks", "pod-partner/node", "pod-partner/sqlite", "pod-partner/testing"];
const imported = Object.assign({}, ...(await Promise.all(doors.map((door) => import(door)))));
const required = Object.assign({}, ...doors.map((door) => require(door)));

async function results(one, other) {
  const emulator = await one.startEmulator({ seed: { orders: 1 } });
  const { baseUrl, secretKey } = emulator;
  const partner = new other.PodPartner({
    baseUrl,
    secretKey,
    storage: one.memoryStorage(),
    transport: one.nodeTransport(),
    clock: one.createManualClock(),
  });
  const [{ reference }] = await partner.orders.list().toArray();
  const first = await partner.images.uploadOnce(one.sampleImage("a design"));
  const second = await partner.images.uploadOnce(one.sampleImage("a design"));
  const seen = [];
  const follower = one.createOrderFollower({
    partner,
    storage: other.sqliteStorage(":memory:"),
    onChange: ({ order }) => void seen.push(order.reference),
  });
  const receiver = other.createOrderUpdatedReceiver({ follower, token: "4f1c0a8b5d7e2396", environment: "test" });
  await follower.update(reference);
  await receiver.close?.();
  await follower.close();
  const error = await partner.orders.get(reference.replace(/.$/, "~")).catch((reason) => reason);
  const missing = await partner.orders.get(reference.replace(/.{3}$/, "zzz")).catch((reason) => reason);
  await emulator.close();
  return {
    followed: seen.length === 1 && seen[0] === reference,
    uploadedOnce: first.uploaded && !second.uploaded,
    checked: one.RequestValidationError.isInstance(error),
    notFound: one.NotFoundError.isInstance(missing) && one.PodPartnerError.isInstance(missing),
    instanceof: missing instanceof one.NotFoundError,
  };
}

console.log(JSON.stringify([await results(imported, required), await results(required, imported)]));
