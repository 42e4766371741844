/** Writes dist/openapi.json: the document that the emulator serves, with examples of a day's work on the emulator. */
import { writeFileSync } from "node:fs";
import { PodPartner } from "pod-partner";
import {
  createManualClock,
  sampleImage,
  startEmulator,
  validAddress,
  validOrder,
  validQuote,
} from "pod-partner/testing";

interface Content {
  readonly "application/json"?: { example?: unknown };
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document {
  readonly servers: [{ url: string }];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** `orders.create` as the document names it. */
const operationIdOf = (call: string) => call.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The clock makes the same document each time. */
const clock = createManualClock("2026-01-07T09:00:00Z");
const shipments = [{ daysAgo: 17 }];
const seed = { number: 1, orders: [{ daysAgo: 20, customIdentifier: "shop-1", shipments }] };
const emulator = await startEmulator({ port: 0, seed, clock, renderDuration: 0 });
const { demo } = emulator;

/** Makes each call that takes more than references once, so that there is a record of each kind. Returns those to show. */
async function work(partner: PodPartner): Promise<readonly string[]> {
  const { catalog, compositions, renders, orders, claims } = partner;
  await partner.auth.validate();
  const productReference = demo.products.slimCase;
  const { legacyItemSKU } = await catalog.products.get(productReference);
  await catalog.products.lookup({ legacySku: legacyItemSKU });
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  const { reference: compositionReference } = await compositions.lookup({
    sceneReference: demo.scenes.studio,
    productReference,
    perspectiveReference: demo.perspectives.front,
  });
  await renders.create({ compositionReference, imageReference });

  const orderlines = [{ productReference, imageReference, quantity: 2 }];
  await orders.quote(validQuote(emulator));
  const { reference: placed } = await orders.create(validOrder(emulator, { customIdentifier: "shop-2", orderlines }));
  await orders.lookup({ customIdentifier: "shop-2" });
  await orders.replaceDropshipAddress(placed, { ...validAddress(), housenumber: "2" });
  await orders.cancel(placed, [{ index: 1, canceledQuantity: 1 }]);

  const shipmentReference = emulator.ship(placed);
  const { reference: evidence } = await partner.evidence.upload(sampleImage());
  const claimcategoryReference = demo.claimcategories.misprint;
  const { reference: filed } = await claims.createItemIssues({
    shipmentReference,
    orderReference: placed,
    comment: "The print is shifted.",
    claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference, evidenceReferences: [evidence] }],
  });
  await claims.retract(filed);
  const [old] = emulator.world().organizations.flatMap((one) => one.shipments);
  if (old !== undefined) await claims.createPackageMissing({ shipmentReference: old.reference });
  return [productReference, placed, shipmentReference, filed];
}

/** Reads each list, and one record of each kind: of `shown`, of the demo catalog, or any. */
async function read(partner: PodPartner, { paths }: Document, shown: readonly string[]): Promise<void> {
  const called = new Set(emulator.requests.map(({ call }) => call && operationIdOf(call)));
  const text = JSON.stringify([shown, demo, emulator.world()]);
  for (const [path, { get }] of Object.entries(paths)) {
    if (get?.responses["200"]?.content?.["application/json"] === undefined || called.has(get.operationId)) continue;
    const filled = path.replace(/\{(\w)(\w+)Reference\}/, (parameter, first: string, rest: string) => {
      const [reference = parameter] = new RegExp(`\\b${first.toUpperCase()}${rest}_\\w{26}`).exec(text) ?? [];
      return reference;
    });
    if (!filled.includes("{")) await partner.request("GET", filled);
  }
}

/** The most items of a list in an example. */
const shown = 2;

const shortened = (value: unknown): unknown =>
  Object.fromEntries(
    Object.entries(value as object).map(([name, field]) => [
      name,
      Array.isArray(field) ? field.slice(0, shown) : field,
    ]),
  );

/** Adds what was sent and received to the operations. */
function addExamples(document: Document): void {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { call, request, response, status } of emulator.requests) {
    const operation = operations.find(({ operationId }) => operationId === (call && operationIdOf(call)));
    const sent = operation?.requestBody?.content["application/json"];
    const received = operation?.responses[String(status)]?.content?.["application/json"];
    if (sent !== undefined && request.body !== undefined) sent.example = request.body.json();
    if (received !== undefined && response?.body !== undefined) received.example = shortened(response.body.json());
  }
}

try {
  const partner = new PodPartner(emulator.clientOptions);
  const shown = await work(partner);
  const response = await fetch(new URL("/_emulator/openapi.json", emulator.baseUrl));
  const document = (await response.json()) as Document;
  await read(partner, document, shown);
  document.servers[0].url = "http://127.0.0.1:4010/v2";
  addExamples(document);
  const text = JSON.stringify(document).replaceAll(emulator.baseUrl, "http://127.0.0.1:4010/v2");
  writeFileSync(new URL("../dist/openapi.json", import.meta.url), `${text}\n`);
} finally {
  await emulator.close();
}
