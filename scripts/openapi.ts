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

/** The clock makes the same document each time. */
const clock = createManualClock("2026-01-07T09:00:00Z");
const shipments = [{ daysAgo: 17 }];
const seed = { number: 1, orders: [{ daysAgo: 20, customIdentifier: "shop-1", shipments }] };
const emulator = await startEmulator({ port: 0, seed, clock, renderDuration: 0 });
const { demo } = emulator;

/** Makes each call of the API once. */
async function work(): Promise<void> {
  const partner = new PodPartner(emulator.clientOptions);
  await partner.auth.validate();
  const { organization, catalog, scenes, perspectives, compositions, renders, orders, claims } = partner;
  await organization.get();
  for (const list of [organization.accounts, organization.stores, organization.brands]) await list.list();
  for (const list of [catalog.productgroups, catalog.packagings, claims.categories]) await list.list();
  await catalog.products.list().toArray({ limit: 1 });
  const { legacyItemSKU } = await catalog.products.get(demo.products.slimCase);
  await catalog.products.lookup({ legacySku: legacyItemSKU });
  await partner.warehouse.items.list().toArray({ limit: 1 });
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  await partner.images.list().toArray();

  const { studio: sceneReference } = demo.scenes;
  const { front: perspectiveReference } = demo.perspectives;
  await scenes.list();
  await scenes.get(sceneReference);
  await perspectives.list({ sceneReference });
  await perspectives.get(perspectiveReference);
  const productReference = demo.products.slimCase;
  const { reference: compositionReference } = await compositions.lookup({
    sceneReference,
    productReference,
    perspectiveReference,
  });
  await compositions.get(compositionReference);
  await renders.get((await renders.create({ compositionReference, imageReference })).reference);
  await partner.rendertokens.get();

  const orderlines = [{ productReference, imageReference, quantity: 2 }];
  await orders.quote(validQuote(emulator));
  const { reference: placed } = await orders.create(validOrder(emulator, { customIdentifier: "shop-2", orderlines }));
  await orders.lookup({ customIdentifier: "shop-2" });
  await orders.list().toArray();
  const { dropshipAddressReference } = await orders.get(placed);
  if (dropshipAddressReference) await partner.addresses.get(dropshipAddressReference);
  await orders.replaceDropshipAddress(placed, { ...validAddress(), housenumber: "2" });
  await orders.cancel(placed, [{ index: 1, canceledQuantity: 1 }]);

  const shipmentReference = emulator.ship(placed);
  await partner.shipments.get(shipmentReference);
  const { reference: evidence } = await partner.evidence.upload(sampleImage());
  const claimcategoryReference = demo.claimcategories.misprint;
  const { reference: filed } = await claims.createItemIssues({
    shipmentReference,
    orderReference: placed,
    comment: "The print is shifted.",
    claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference, evidenceReferences: [evidence] }],
  });
  await claims.get(filed);
  await claims.list().toArray();
  await claims.retract(filed);
  const [old] = emulator.world().organizations.flatMap((one) => one.shipments);
  if (old !== undefined) await claims.createPackageMissing({ shipmentReference: old.reference });
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
    const name = call?.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
    const operation = operations.find(({ operationId }) => operationId === name);
    const sent = operation?.requestBody?.content["application/json"];
    const received = operation?.responses[String(status)]?.content?.["application/json"];
    if (sent !== undefined && request.body !== undefined) sent.example = request.body.json();
    if (received !== undefined && response?.body !== undefined) received.example = shortened(response.body.json());
  }
}

try {
  await work();
  const response = await fetch(new URL("/_emulator/openapi.json", emulator.baseUrl));
  const document = (await response.json()) as Document;
  document.servers[0].url = "http://127.0.0.1:4010/v2";
  addExamples(document);
  const text = JSON.stringify(document).replaceAll(emulator.baseUrl, "http://127.0.0.1:4010/v2");
  writeFileSync(new URL("../dist/openapi.json", import.meta.url), `${text}\n`);
} finally {
  await emulator.close();
}
