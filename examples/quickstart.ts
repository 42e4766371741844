/**
 * A partner's whole day over HTTP: from a key to a shipped order and a claim. `npm run quickstart` runs it on the embedded emulator.
 * With POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY set, it runs on that emulator or service instead. On a service, it uploads the
 * design and spends the rendertokens of one render, and places an order only with `--place-order`.
 */
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import {
  type AddressInput,
  type Composition,
  GoneError,
  NotFoundError,
  type OrderlineInput,
  type OrderReference,
  PodPartner,
  PodPartnerError,
  type Product,
  type RenderInput,
  type ShipmentReference,
  type StoreReference,
} from "pod-partner";
import { sampleImage, startEmulator } from "pod-partner/testing";

const design = fileURLToPath(new URL("design.png", import.meta.url));
const name = { firstname: "Ada", lastname: "Jansen", email: "ada@example.com", phonenumber: "+31201234567" };
const place = { streetname: "Damrak", housenumber: "1", zipcode: "1012LG", city: "Amsterdam", countryCode: "NL" };
const customer: AddressInput = { ...name, ...place };

const euros = (cents: number) => `€ ${(cents / 100).toFixed(2)}`;
const seconds = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
let last = performance.now();

/** Prints a step that has ended, with the time since the one before. Colours are only for a terminal. */
function say(step: string, text: string, sign = styleText("green", "✓")): void {
  const now = performance.now();
  console.log(`${sign} ${step.padEnd(12)}${styleText("dim", seconds(now - last).padStart(8))}  ${text}`);
  last = now;
}
const summary: Record<string, string | number> = {};

/** What the service does with an order, and when: only an emulator lets a program decide that. */
type Operator = (control: string, input: object) => Promise<unknown>;

/** The controls of an emulator. Another service has none. */
async function findOperator(baseUrl: string): Promise<Operator | undefined> {
  const controls = baseUrl.replace(/v2$/, "_emulator");
  const listed = await fetch(controls).catch(() => undefined);
  if (!listed?.ok || !(await listed.text()).includes("clock.advance")) return undefined;
  return async (control, input) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${controls}/${control}`, { method: "POST", headers, body: JSON.stringify(input) });
    if (!response.ok) throw new Error(`The control ${control}: ${await response.text()}`);
    return Object(await response.json()).result;
  };
}

async function findStore(partner: PodPartner): Promise<StoreReference> {
  const { message } = await partner.auth.validate();
  say("Key", message ?? "valid");
  const stores = await partner.organization.stores.list();
  const store = stores.find(({ integration }) => integration === "api");
  if (store === undefined) throw new Error("None of your stores has the integration `api`: make one in the dashboard.");
  say("Store", `${store.reference}, one of ${stores.length}`);
  return store.reference;
}

async function launchedProducts(partner: PodPartner): Promise<Product[]> {
  const launched: Product[] = [];
  for await (const product of partner.catalog.products.list()) {
    if (product.status === "launched") launched.push(product);
  }
  if (launched.length === 0) throw new Error("The catalog has no launched product.");
  say("Catalog", `${launched.length} launched products: ${launched[0]?.name}, …`);
  summary["launched products"] = launched.length;
  return launched;
}

/** Only some combinations of scene, product and perspective exist, so it looks one up. */
async function findComposition(partner: PodPartner, products: readonly Product[]) {
  const summaries = (await partner.scenes.list()).slice(0, 5);
  const scenes = await Promise.all(summaries.map(({ reference }) => partner.scenes.get(reference)));
  for (const product of products.slice(0, 20)) {
    for (const scene of scenes) {
      for (const { reference: perspectiveReference } of scene.perspectives) {
        const parts = { sceneReference: scene.reference, productReference: product.reference, perspectiveReference };
        const composition = await partner.compositions.lookup(parts).catch(unlessAbsent);
        if (composition === undefined) continue;
        const perspective = await partner.perspectives.get(perspectiveReference);
        const { widthPx, heightPx } = perspective.output;
        say("Composition", `${product.name} in ${scene.name}, ${perspective.name}: ${widthPx} × ${heightPx}`);
        return { product, composition };
      }
    }
  }
  throw new Error("None of the products fits any of the scenes.");
}

function unlessAbsent(error: unknown): undefined {
  if (NotFoundError.isInstance(error) || GoneError.isInstance(error)) return undefined;
  throw error;
}

async function checkTokens(partner: PodPartner, { tokenCost }: Composition): Promise<void> {
  const { remaining, limit, resets } = await partner.rendertokens.get();
  say("Tokens", `${remaining} of ${limit} rendertokens left, a render costs ${tokenCost}; reset ${resets}`);
  if (remaining < tokenCost) throw new Error("The week's rendertokens do not cover the render.");
}

async function makeMockup(partner: PodPartner, operator: Operator | undefined, input: RenderInput): Promise<void> {
  const { reference } = await partner.renders.create(input);
  // The clock of an emulator may stand still.
  await operator?.("clock.advance", { span: { seconds: 5 } });
  await partner.renders.wait(reference, {
    onPending: ({ status }, waited) => say("Render", `${status} after ${seconds(waited)}`, "…"),
  });
  const mockup = await partner.renders.media(reference);
  const path = `quickstart-mockup.${mockup.contentType === "image/jpeg" ? "jpg" : "png"}`;
  await mockup.saveTo(path);
  say("Render", `completed: ${path}, ${mockup.size} bytes`);
  summary.render = reference;
  summary.mockup = path;
}

async function quoteOrder(partner: PodPartner, storeReference: StoreReference, line: OrderlineInput): Promise<void> {
  const { productReference, quantity } = line;
  const orderlines = [{ productReference, quantity }];
  const destination = { shippingKind: "dropship", dropshipAddress: customer } as const;
  const options = await partner.orders.quote({ storeReference, ...destination, orderlines });
  say("Quote", options.map(({ level, price }) => `${level} ${euros(price)}`).join(", "));
}

async function placeOrder(partner: PodPartner, storeReference: StoreReference, line: OrderlineInput) {
  const { reference, customIdentifier } = await partner.orders.create({
    storeReference,
    shippingKind: "dropship",
    customIdentifier: `quickstart-${Date.now()}`,
    dropshipAddress: customer,
    dropshipMinimalShippingLevel: "tracked",
    orderlines: [line],
  });
  say("Order", `${reference}, yours is ${customIdentifier}`);
  summary.order = reference;
  return reference;
}

async function countOrders(partner: PodPartner): Promise<void> {
  const orders = await partner.orders.list().toArray({ limit: 500 });
  say("Orders", `${orders.length} in the list, the newest is ${orders[0]?.reference ?? "not there yet"}`);
  summary["orders iterated"] = orders.length;
}

async function followShipment(partner: PodPartner, order: OrderReference, shipment: ShipmentReference): Promise<void> {
  const { status, orderlines } = await partner.orders.get(order);
  const { carrier, trackingNumber, trackingUrl } = await partner.shipments.get(shipment);
  say("Shipment", `${shipment}: ${orderlines[0]?.shippedQuantity} shipped, the order is ${status.code}`);
  say("Tracking", `${carrier} ${trackingNumber}, ${trackingUrl}`);
  summary.shipment = shipment;
}

async function claimAndRetract(partner: PodPartner, order: OrderReference, shipment: ShipmentReference): Promise<void> {
  const categories = await partner.claims.categories.list();
  const category = categories.find(({ evidenceRequired }) => evidenceRequired);
  if (category === undefined) throw new Error("There is no claim category that requires evidence.");
  const photo = await partner.evidence.upload(sampleImage("a photo of the damage"));
  const line = { orderlineIndex: 1, quantity: 1, claimcategoryReference: category.reference };
  const { reference } = await partner.claims.createItemIssues({
    shipmentReference: shipment,
    orderReference: order,
    comment: "One of the two is not as it should be.",
    claimlines: [{ ...line, evidenceReferences: [photo.reference] }],
  });
  say("Claim", `${reference} (${category.name}) is ${(await partner.claims.get(reference)).status}`);
  await partner.claims.retract(reference);
  say("Claim", `${(await partner.claims.get(reference)).status}, for good`);
  summary.claim = reference;
}

async function day(partner: PodPartner, operator: Operator | undefined): Promise<void> {
  const store = await findStore(partner);
  const { product, composition } = await findComposition(partner, await launchedProducts(partner));
  const { reference: imageReference } = await partner.images.upload(design);
  say("Design", `${imageReference}: the same content always has the same reference`);
  await checkTokens(partner, composition);
  await makeMockup(partner, operator, { compositionReference: composition.reference, imageReference });

  const line = { productReference: product.reference, imageReference, quantity: 2 };
  await quoteOrder(partner, store, line);
  const wanted = operator !== undefined || process.argv.includes("--place-order");
  const order = wanted ? await placeOrder(partner, store, line) : undefined;
  if (order === undefined) say("Order", "none was placed: add --place-order to place one", "–");
  await countOrders(partner);
  if (operator === undefined || order === undefined) return;

  const shipment = (await operator("ship", { orders: order })) as ShipmentReference;
  await followShipment(partner, order, shipment);
  await claimAndRetract(partner, order, shipment);
}

async function main(): Promise<void> {
  const { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey } = process.env;
  const isGiven = baseUrl !== undefined || secretKey !== undefined;
  await using emulator = isGiven ? undefined : await startEmulator({ seed: { orders: 120 } });
  const began = performance.now();
  const requests: string[] = [];
  const partner = new PodPartner({
    baseUrl: emulator?.baseUrl ?? baseUrl,
    secretKey: emulator?.secretKey ?? secretKey,
    hooks: { onRequest: ({ endpoint }) => requests.push(endpoint) },
  });
  const operator = await findOperator(emulator?.baseUrl ?? baseUrl ?? "");
  const kind = emulator !== undefined ? "the embedded emulator" : operator !== undefined ? "an emulator" : "a service";
  say("Service", `${kind}, ${emulator?.baseUrl ?? baseUrl}`);
  await day(partner, operator);

  const { used, limit } = await partner.rendertokens.get();
  summary["tokens used"] = `${used} of ${limit}`;
  summary["rate limit left"] =
    `${partner.rateLimits.policies.default?.remaining} of ${partner.rateLimits.policies.default?.quota}`;
  summary.requests = requests.length;
  summary.duration = seconds(performance.now() - began);
  console.log(`\n${styleText("bold", "Summary")}`);
  for (const [name, value] of Object.entries(summary)) console.log(`  ${name.padEnd(18)} ${value}`);
}

try {
  await main();
} catch (error) {
  console.error(PodPartnerError.isInstance(error) ? `\n${error.name}: ${error.message}` : error);
  process.exitCode = 1;
}
