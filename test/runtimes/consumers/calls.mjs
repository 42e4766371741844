// A partner's day: one call of each kind, and its result.
import { inspect } from "node:util";
import { PodPartner } from "pod-partner";

const { baseUrl, secretKey, demo, order, picture, target } = JSON.parse(process.env.INPUT);
const watched = [];
const partner = new PodPartner({
  baseUrl,
  secretKey,
  hooks: { onRequest: ({ endpoint }) => void watched.push(endpoint) },
});

/** Whether any way to print a value shows the key. */
const showsKey = (value) =>
  [inspect, globalThis.Bun?.inspect, globalThis.Deno?.inspect, JSON.stringify, String]
    .map((print) => print?.(value, { depth: 20, showHidden: true }) ?? "")
    .some((text) => text.includes(secretKey));

const failure = (call) =>
  call.then(
    () => "value",
    (error) => error.name,
  );

const { reference, recovered } = await partner.orders.create(order);
const lost = await partner.orders.create({ ...order, customIdentifier: "shop-lost" });

const references = [];
for await (const { customIdentifier } of partner.orders.list()) references.push(customIdentifier);

const image = await partner.images.upload(picture);
const composition = await partner.compositions.lookup({
  sceneReference: demo.scenes.studio,
  productReference: demo.products.slimCase,
  perspectiveReference: demo.perspectives.front,
});
const created = await partner.renders.create({
  compositionReference: composition.reference,
  imageReference: image.reference,
});
const render = await partner.renders.wait(created.reference, { interval: 20 });
const media = await partner.renders.media(render.reference, { wait: true });
await media.saveTo(target);
const whole = await (await partner.renders.media(render.reference)).bytes();

async function missingOrder() {
  try {
    return await partner.orders.get("Order_00000000000000000000000000");
  } catch (error) {
    return error;
  }
}
const missing = await missingOrder();
const late = { retry: { retries: 0 } };
const controller = new AbortController();
const impatient = new PodPartner({
  baseUrl,
  secretKey,
  hooks: { onRequest: () => controller.abort(new RangeError("enough")) },
});
const { timeline } = await partner.orders.get(reference).withResponse();

console.log(
  JSON.stringify({
    found: (await partner.orders.get(reference)).reference === reference,
    recovered: [recovered, lost.recovered],
    listed: references.length,
    render: render.status,
    bytes: whole.byteLength,
    size: media.size,
    attempts: timeline.map(({ step, outcome }) => `${step} ${outcome}`),
    notFound: missing.name,
    ownLine: missing.stack.includes("calls.mjs") && !/captureCallSite|Operation/.test(missing.stack),
    keyShown: [partner, missing].some(showsKey),
    watched: watched[0],
    timeout: await failure(partner.warehouse.items.list({ ...late, timeout: 50 }).toArray()),
    deadline: await failure(partner.warehouse.items.list({ deadline: 50 }).toArray()),
    abort: await failure(impatient.organization.accounts.list({ signal: controller.signal })),
    cut: await failure(partner.rendertokens.get(late)),
  }),
);
