/** Every call of 1.0.0, with its options and what is read of its result. It is compiled, not run. */
import {
  type ClaimReference,
  type CompleteAddress,
  type CompositionReference,
  type IdentifiedOrderInput,
  type ImageReference,
  type ItemIssuesInput,
  isOpen,
  type ListSnapshot,
  type MockupInput,
  NotFoundError,
  type Order,
  type OrderInput,
  type OrderReference,
  OutcomeUnknownError,
  type PackageMissingInput,
  type PodPartner,
  type Product,
  type ProductReference,
  parseReference,
  type QuoteInput,
  type RenderReference,
  type RequestOptions,
  type ShipmentReference,
  shipmentsIn,
  type WarehouseItem,
} from "pod-partner";

declare const partner: PodPartner;

const options: RequestOptions = {
  signal: AbortSignal.timeout(5_000),
  timeout: 10_000,
  deadline: 60_000,
  priority: "high",
  retry: { retries: 2, baseDelay: 100, maxDelay: 1_000, maxRetryAfter: 30_000 },
  callId: "job-1",
  headers: { "x-shop": "1" },
  query: { expand: ["lines", "address"], page: 2 },
  body: { order: { brandReference: "Brand_1" } },
};

export async function organization(): Promise<string[]> {
  const { message } = await partner.auth.validate({ retry: false });
  const texts = [String(message), JSON.stringify(await partner.organization.get(options))];
  for (const { reference } of await partner.organization.accounts.list()) texts.push(reference);
  for (const { integration, reference } of await partner.organization.stores.list())
    texts.push(`${integration} ${reference}`);
  for (const { reference } of await partner.organization.brands.list()) texts.push(reference);
  return texts;
}

export async function catalog(
  product: ProductReference,
  since: ListSnapshot<Product>,
): Promise<ListSnapshot<WarehouseItem>> {
  for await (const { reference, name, status } of partner.catalog.products.list({ prefetch: 2 })) {
    const known: ProductReference = reference;
    console.log(known, name, status === "launched");
  }
  for await (const { items, nextCursor } of partner.catalog.products.list().pages())
    console.log(items.length, nextCursor);
  const some: readonly Product[] = await partner.catalog.products.list(options).toArray({ limit: 10 });
  const { weightGrams } = await partner.catalog.products.get(product, options);
  const { reference } = await partner.catalog.products
    .lookup({ legacySku: "SKU-1" })
    .then((found) => ({ reference: found }));
  for await (const outcome of partner.catalog.products.getMany([product, reference], { concurrency: 4 })) {
    console.log(outcome.ok ? outcome.value.name : [outcome.input, outcome.error]);
  }
  const { added, changed, removed, snapshot } = await partner.catalog.products.changes({ since, details: true });
  console.log(
    added[0]?.current.reference,
    changed[0]?.previous.reference,
    changed[0]?.fields,
    removed[0]?.previous.reference,
  );
  console.log(JSON.stringify(snapshot), some.length, weightGrams);
  const picture = await partner.catalog.products.media(product, "front.png", { etag: '"1"' });
  if (picture.modified)
    await picture.saveTo("front.png", { onProgress: ({ received, size }) => console.log(received, size) });
  const layer = await partner.catalog.products.layerImage("https://partner.example/v2/layer.png", {
    lastModified: "now",
  });
  console.log(layer.modified);
  console.log((await partner.catalog.productgroups.list()).length, (await partner.catalog.packagings.list()).length);
  for await (const { sku, logicalQuantity } of partner.warehouse.items.list()) console.log(sku, logicalQuantity);
  const items = await partner.warehouse.items.changes();
  return items.snapshot;
}

export async function pictures(
  image: ImageReference,
  composition: CompositionReference,
  render: RenderReference,
  rows: AsyncIterable<MockupInput>,
): Promise<void> {
  await partner.images.upload("design.png", {
    onProgress: ({ sent, size }) => console.log(sent, size),
    onDownsize: ({ width, height }) => console.log(width, height),
  });
  await partner.images.upload(new Uint8Array(8));
  await partner.images.upload(new URL("file:///design.png"));
  await partner.images.upload(new Blob([]));
  await partner.images.upload(new Response());
  const { reference, uploaded } = await partner.images.uploadOnce("design.png");
  for await (const { reference: own } of partner.images.list()) console.log(own, reference, uploaded);
  const evidence = await partner.evidence.upload("photo.jpg", options);
  const photo = await partner.evidence.download("https://partner.example/v2/evidence/1");
  console.log(evidence.reference, photo.contentType, photo.size, photo.etag, photo.lastModified);
  for await (const chunk of photo.stream()) console.log(chunk.byteLength);
  const [scene] = await partner.scenes.list();
  if (scene === undefined) return;
  const { compatibleProductgroups, perspectives } = await partner.scenes.get(scene.reference);
  const [perspective] = await partner.perspectives.list({ sceneReference: scene.reference });
  if (perspective === undefined) return;
  const { output } = await partner.perspectives.get(perspective.reference);
  console.log(compatibleProductgroups, perspectives, output?.widthPx);
  const product = parseReference("Product", "Product_1");
  const parts = {
    sceneReference: scene.reference,
    productReference: product,
    perspectiveReference: perspective.reference,
  };
  const { tokenCost } = await partner.compositions.lookup(parts);
  console.log(tokenCost, (await partner.compositions.get(composition)).reference);
  for await (const found of partner.compositions.search({ productReference: product }, { concurrency: 8 })) {
    console.log(found.composition.reference, found.sceneReference);
  }
  const created = await partner.renders.create({ compositionReference: composition, imageReference: image });
  const { status, thumbhash } = await partner.renders.get(created.reference);
  const done = await partner.renders.wait(render, {
    interval: 60_000,
    onPending: ({ status: now }) => console.log(now),
  });
  const media = await partner.renders.media(render, { wait: true });
  console.log(status, thumbhash, done.media?.mimeType, (await media.bytes()).byteLength);
  const thumbnail = await partner.renders.thumbnail(render);
  await thumbnail.cancel();
  for await (const outcome of partner.renders.batch(rows, {
    concurrency: 4,
    maxPending: 100,
    tokenBudget: 50,
    retryFailed: true,
    download: "mockups",
    fileName: (row, made) => `${JSON.stringify(row)}${made.reference}`,
    onProgress: ({ done: count, tokensSpent }) => console.log(count, tokensSpent),
  })) {
    if (outcome.ok) console.log(outcome.value.path);
    else if (outcome.reason === "weekly-limit") console.log(outcome.resetsAt);
    else console.log(outcome.reason, outcome.error);
  }
  const { remaining, resets } = await partner.rendertokens.get();
  console.log(remaining, resets);
}

export async function orders(
  order: OrderInput,
  identified: IdentifiedOrderInput,
  quote: QuoteInput,
  address: CompleteAddress,
): Promise<Order> {
  const { reference, customIdentifier, recovered } = await partner.orders.create(order, options);
  const placed = await partner.orders.ensure(identified, { compare: "lines", lookFor: 30_000, lookFirst: false });
  console.log(customIdentifier, recovered, placed.existed);
  for await (const outcome of partner.orders.ensureMany([1, 2], {
    map: (row) => ({ ...identified, customIdentifier: `shop-${row}` }),
    concurrency: 8,
  })) {
    if (!outcome.ok && outcome.error instanceof OutcomeUnknownError) console.log(outcome.input);
  }
  for await (const { reference: own } of partner.orders.list()) console.log(own);
  for await (const outcome of partner.orders.getMany([reference])) console.log(outcome.ok);
  await partner.orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }]);
  await partner.orders.cancelRemaining(reference);
  await partner.orders.replaceDropshipAddress(reference, address);
  for (const { level, price } of await partner.orders.quote(quote)) console.log(level, price);
  const found: OrderReference = await partner.orders.lookup({ customIdentifier: "shop-1" });
  const { data, response, timeline, rateLimits, callId } = await partner.orders.get(found).withResponse();
  console.log(response.status, timeline[0]?.step, timeline[0]?.took, rateLimits.policies, callId, isOpen(data));
  const { dropshipAddressReference: at } = data;
  if (at) console.log((await partner.addresses.get(at)).city);
  for (const shipment of shipmentsIn(data)) console.log((await partner.shipments.get(shipment)).trackingUrl);
  return data;
}

export async function claims(
  missing: PackageMissingInput,
  issues: ItemIssuesInput,
  claim: ClaimReference,
  shipment: ShipmentReference,
): Promise<void> {
  for (const { reference, name, evidenceRequired } of await partner.claims.categories.list()) {
    console.log(reference, name, evidenceRequired);
  }
  const { reference, existed, recovered } = await partner.claims.createPackageMissing(missing, { key: "return-1" });
  await partner.claims.createItemIssues(issues);
  for await (const { status } of partner.claims.list({ closedAfter: new Date() })) console.log(status);
  const { decision, claimlines } = await partner.claims.get(claim).catch((error: unknown) => {
    if (NotFoundError.isInstance(error)) return partner.claims.get(reference);
    throw error;
  });
  for await (const outcome of partner.claims.getMany([reference])) console.log(outcome.ok);
  for await (const outcome of partner.shipments.getMany([shipment])) console.log(outcome.ok);
  await partner.claims.retract(claim);
  console.log(existed, recovered, decision?.refundShippingCosts, claimlines[0]?.decision?.refundQuantity);
}

export async function rest(): Promise<unknown> {
  const nightly: PodPartner = partner.withOptions({ priority: "low", deadline: 600_000, headers: { "x-job": "1" } });
  await nightly.withOptions({ retry: false, timeout: 1_000 }).auth.validate();
  const { policies, estimate } = partner.rateLimits;
  console.log(
    policies.default?.remaining,
    policies.default?.waiting,
    policies.default?.reason,
    estimate(100, "uploads"),
  );
  console.log(partner.storage.kind, partner.storage.state, await partner.storage.check());
  return partner.request("POST", "/things", { query: { page: 1 }, body: { thing: {} } });
}
