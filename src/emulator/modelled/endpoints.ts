import type { Switches } from "./gaps.ts";

/** What the emulator does for an endpoint. */
export interface EndpointCoverage extends Switches {
  readonly models: string;
}

const organization: Switches = { options: ["organizations"] };

/** The endpoints by their call. Every endpoint has the switches of {@link everyEndpoint}, too. */
export const endpointCoverage: Readonly<Record<string, EndpointCoverage>> = {
  "auth.validate": {
    models: "valid, missing, unknown and revoked keys",
    options: ["secretKey", "keys"],
    controls: ["updateKey"],
  },
  "organization.get": { models: "the organization of the key", ...organization },
  "organization.accounts.list": { models: "two demo accounts; one for another organization", ...organization },
  "organization.stores.list": {
    models:
      "two demo stores that accept orders and one of a platform; the stores of the option for another organization",
    options: ["organizations.stores"],
    controls: ["setStoreIntegration", "setCallbackUrl"],
  },
  "organization.brands.list": { models: "two demo brands; one for another organization", ...organization },
  "catalog.products.list": {
    models: "products in every stage, printed and not printed, by pages",
    options: ["pageSize"],
    controls: ["updateProduct"],
  },
  "catalog.products.get": {
    models: "detail, media and layer images; 410 for an archived product",
    controls: ["updateProduct", "replaceMedia"],
  },
  "catalog.products.media": {
    models: "an example image that is revalidated, and an example render that is cached for a year",
    controls: ["replaceMedia"],
  },
  "catalog.products.layerImage": {
    models: "ETag, Last-Modified and 304",
    controls: ["updateProduct"],
  },
  "catalog.products.lookup": { models: "the product of a legacy SKU" },
  "catalog.packagings.list": { models: "two packagings of the organization" },
  "catalog.productgroups.list": { models: "the productgroups that the organization sees, one of them private" },
  "warehouse.items.list": {
    models: "items of the demo organization, by pages; one item has several products",
    options: ["pageSize"],
    controls: ["setStock"],
  },
  "addresses.get": { models: "addresses of orders and shipments; 404 for a replaced address without a shipment" },
  "images.upload": {
    models: "PNG and JPEG; the same content has the same reference",
    options: ["seed.images"],
    controls: ["seed"],
  },
  "images.list": {
    models: "uploaded images, newest first, by pages",
    options: ["pageSize", "seed.images"],
    controls: ["seed"],
  },
  "evidence.upload": {
    models: "PNG and JPEG; unused evidence is deleted after 1 day",
    options: ["seed.evidence"],
    controls: ["seed", "clock.advance"],
  },
  "evidence.download": {
    models: "the evidence of a claim, until about four months after its end",
    controls: ["clock.advance"],
  },
  "scenes.list": { models: "scenes, by productgroup; one is private" },
  "scenes.get": { models: "a scene with its perspectives and productgroups" },
  "perspectives.list": { models: "perspectives, by scene and product" },
  "perspectives.get": { models: "perspectives of scenes and of products" },
  "compositions.lookup": { models: "200, 404 and 410", controls: ["updateProduct"] },
  "compositions.get": {
    models: "a composition with its cost; 410 for an archived product, which is assumed",
    controls: ["updateProduct"],
  },
  "renders.create": {
    models:
      "the same composition and image have one render; each request costs rendertokens; 410 for an archived product, which is assumed",
    options: ["renderDuration", "rendertokenLimit"],
    controls: ["updateProduct"],
  },
  "renders.get": {
    models: "pending, completed and failed renders",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender", "clock.advance"],
  },
  "renders.media": {
    models: "202 with Retry-After, then a PNG of the print image",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender"],
  },
  "renders.thumbnail": {
    models: "202 with Retry-After, then a small PNG",
    options: ["renderDuration"],
    controls: ["completeRender", "failRender"],
  },
  "rendertokens.get": {
    models: "the tokens of the week, until Monday 00:00 Europe/Amsterdam",
    options: ["rendertokenLimit"],
    controls: ["clock.advance"],
  },
  "orders.create": {
    models:
      "every check of the specification, dropship and combined orders, integrators; `product_not_orderable` for the stage alone",
    options: ["repeatedIdentifier", "keys", "automation"],
    controls: ["setStoreIntegration", "updateProduct", "seed"],
  },
  "orders.list": { models: "orders, newest first, by pages", options: ["pageSize", "seed.orders"], controls: ["seed"] },
  "orders.get": {
    models: "production, holds, pre-orders, shipments in full or in part, cancellations; also in the environment test",
    options: ["automation", "seed.orders"],
    controls: ["startProduction", "hold", "release", "ship", "automate", "seed"],
  },
  "orders.cancel": {
    models: "total canceled quantities, all or nothing",
    controls: ["startProduction", "ship", "setStoreIntegration"],
  },
  "orders.replaceDropshipAddress": {
    models: "a new address while the order is open; a replacement order is locked",
    controls: ["ship", "reviewClaim"],
  },
  "orders.quote": {
    models: "levels by destination, weight and value",
    controls: ["setStoreIntegration", "updateProduct"],
  },
  "orders.lookup": { models: "the order of a custom identifier", options: ["repeatedIdentifier"] },
  "shipments.get": { models: "basic, tracked, express and combined shipments", controls: ["ship", "automate", "seed"] },
  "claims.categories.list": { models: "categories with and without evidence, and the reserved one" },
  "claims.createPackageMissing": {
    models: "the delivery window, the warranty, existing claims and replacements",
    controls: ["ship", "clock.advance"],
  },
  "claims.createItemIssues": {
    models: "the warranty, shipped and already claimed quantities, evidence",
    controls: ["ship", "clock.advance"],
  },
  "claims.list": {
    models: "open claims, and those closed within 14 days or after closedAfter, by pages",
    options: ["pageSize", "seed.orders"],
    controls: ["seed", "clock.advance"],
  },
  "claims.get": {
    models: "pending, resolved, rejected and retracted claims, with evidence until it is purged",
    options: ["automation"],
    controls: ["reviewClaim", "automate", "clock.advance"],
  },
  "claims.retract": { models: "204 while the claim is pending", controls: ["reviewClaim"] },
};

/** What changes every endpoint. */
export const everyEndpoint: EndpointCoverage = {
  models: "keys and permissions, rate limits, 501, isolated organizations, strict requests, faults on the way",
  options: ["keys", "organizations", "limits", "unavailable", "environment", "shapes", "clock"],
  controls: ["updateKey", "drain", "faults.add", "faults.remove", "faults.clear"],
};
