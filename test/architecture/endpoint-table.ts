/** The sections of part 4, in the order of the page. */
const titles = {
  "4.1": "Authentication",
  "4.2": "Organization",
  "4.3": "Catalog and warehouse",
  "4.4": "Addresses",
  "4.5": "Images and evidence",
  "4.6": "Scenes, compositions and renders",
  "4.7": "Orders",
  "4.8": "Shipments",
  "4.9": "Claims",
  "4.10": "Look-ups",
} as const;

/**
 * Part 4 of the specification, written by hand: section (a key of `titles`), endpoint, the method of the client that calls it, that method's arguments and
 * its result. Layer images and evidence have no path in the specification: a product's detail and a claim give their whole URLs.
 */
export const specification = [
  ["4.1", "POST /auth/validate", "auth.validate", "", "KeyValidation"],
  ["4.2", "GET /organization", "organization.get", "", "Organization"],
  ["4.2", "GET /accounts", "organization.accounts.list", "", "readonly Account[]"],
  ["4.2", "GET /stores", "organization.stores.list", "", "readonly Store[]"],
  ["4.2", "GET /brands", "organization.brands.list", "", "readonly Brand[]"],
  ["4.3", "GET /products", "catalog.products.list", "", "Paginator<Product>"],
  ["4.3", "GET /products/{productReference}", "catalog.products.get", "productReference", "ProductDetail"],
  [
    "4.3",
    "GET /products/{productReference}/media/{filename}",
    "catalog.products.media",
    "productReference, filename, { etag }",
    "Download | NotModified",
  ],
  ["4.3", "GET {layerImageUrl}", "catalog.products.layerImage", "url, { etag }", "Download | NotModified"],
  ["4.3", "GET /packagings", "catalog.packagings.list", "", "readonly Packaging[]"],
  ["4.3", "GET /productgroups", "catalog.productgroups.list", "", "readonly Productgroup[]"],
  ["4.3", "GET /items", "warehouse.items.list", "", "Paginator<WarehouseItem>"],
  ["4.4", "GET /addresses/{addressReference}", "addresses.get", "addressReference", "Address"],
  ["4.5", "POST /images", "images.upload", "source", "PrintImage"],
  ["4.5", "GET /images", "images.list", "", "Paginator<PrintImage>"],
  ["4.5", "POST /evidence", "evidence.upload", "source", "Evidence"],
  ["4.5", "GET {evidenceUrl}", "evidence.download", "url", "Download"],
  ["4.6", "GET /scenes", "scenes.list", "{ productgroupReference }", "readonly SceneSummary[]"],
  ["4.6", "GET /scenes/{sceneReference}", "scenes.get", "sceneReference", "Scene"],
  [
    "4.6",
    "GET /perspectives",
    "perspectives.list",
    "{ sceneReference, productReference }",
    "readonly PerspectiveSummary[]",
  ],
  ["4.6", "GET /perspectives/{perspectiveReference}", "perspectives.get", "perspectiveReference", "Perspective"],
  [
    "4.6",
    "GET /lookup-composition",
    "compositions.lookup",
    "{ sceneReference, productReference, perspectiveReference }",
    "Composition",
  ],
  ["4.6", "GET /compositions/{compositionReference}", "compositions.get", "compositionReference", "Composition"],
  ["4.6", "POST /renders", "renders.create", "{ compositionReference, imageReference }", "CreatedRender"],
  ["4.6", "GET /renders/{renderReference}", "renders.get", "renderReference", "Render"],
  ["4.6", "GET /renders/{renderReference}/media", "renders.media", "renderReference, { wait: true }", "Download"],
  [
    "4.6",
    "GET /renders/{renderReference}/thumbnail",
    "renders.thumbnail",
    "renderReference, { wait: true }",
    "Download",
  ],
  ["4.6", "GET /rendertokens", "rendertokens.get", "", "Rendertokens"],
  ["4.7", "POST /orders", "orders.create", "order", "PlacedOrder"],
  ["4.7", "GET /orders", "orders.list", "", "Paginator<OrderSummary>"],
  ["4.7", "GET /orders/{orderReference}", "orders.get", "orderReference", "Order"],
  [
    "4.7",
    "POST /orders/{orderReference}/cancel",
    "orders.cancel",
    "orderReference, [{ index: 1, canceledQuantity: 2 }]",
    "void",
  ],
  [
    "4.7",
    "PUT /orders/{orderReference}/dropship-address",
    "orders.replaceDropshipAddress",
    "orderReference, address",
    "void",
  ],
  ["4.7", "POST /quote", "orders.quote", "quote", "readonly ShippingOption[]"],
  ["4.8", "GET /shipments/{shipmentReference}", "shipments.get", "shipmentReference", "Shipment"],
  ["4.9", "GET /claimcategories", "claims.categories.list", "", "readonly Claimcategory[]"],
  ["4.9", "POST /claim-package-missing", "claims.createPackageMissing", "{ shipmentReference }", "FiledClaim"],
  ["4.9", "POST /claim-item-issues", "claims.createItemIssues", "claim", "FiledClaim"],
  ["4.9", "GET /claims", "claims.list", "{ closedAfter }", "Paginator<ClaimSummary>"],
  ["4.9", "GET /claims/{claimReference}", "claims.get", "claimReference", "Claim"],
  ["4.9", "POST /claims/{claimReference}/retract", "claims.retract", "claimReference", "void"],
  [
    "4.10",
    "GET /utilities/lookup-product-reference-by-legacy-sku",
    "catalog.products.lookup",
    "{ legacySku }",
    "ProductReference",
  ],
  [
    "4.10",
    "GET /utilities/lookup-order-reference-by-custom-identifier",
    "orders.lookup",
    "{ customIdentifier }",
    "OrderReference",
  ],
] as const satisfies readonly (readonly [keyof typeof titles, string, string, string, string])[];

/** Methods that send requests to endpoints of {@link specification} in their own order: method, arguments, effect, result. */
export const combined = [
  [
    "catalog.products.changes",
    "{ since }",
    "reads the list, names what changed since a snapshot",
    "ListChanges<Product>",
  ],
  ["warehouse.items.changes", "{ since: stock }", "the same for warehouse items", "ListChanges<WarehouseItem>"],
  ["orders.ensure", "order", "looks the order up, creates it if it is absent", "PlacedOrder"],
  ["orders.ensureMany", "rows, { map }", "`ensure` for each row", "AsyncIterable<Outcome<Row, PlacedOrder>>"],
  ["orders.cancelRemaining", "orderReference", "reads the order, cancels its remaining units", "CanceledRemainder"],
  ["images.uploadOnce", "source", "uploads the content if it was not uploaded before", "UploadedImage"],
  ["renders.wait", "renderReference", "reads the render until it is complete", "Render"],
  [
    "renders.batch",
    "pairs, { concurrency: 4 }",
    "uploads each image, creates, awaits and downloads each render",
    "AsyncIterable<MockupOutcome<RenderInput, RenderedMockup>>",
  ],
  ["request", '"GET", "/anything"', "calls an endpoint that the SDK does not know", "unknown"],
] as const;

const types = "Product Order Image Scene Perspective Composition Render Shipment Claim Address Productgroup";

/** The names in the arguments of both tables, with their types. */
const given = [
  ...types.split(" ").map((kind) => `declare const ${kind.toLowerCase()}Reference: sdk.${kind}Reference;`),
  "declare const partner: sdk.PodPartner; declare const source: sdk.ImageSource; declare const address: sdk.CompleteAddress;",
  "declare const order: sdk.IdentifiedOrderInput; declare const quote: sdk.QuoteInput; declare const claim: sdk.ItemIssuesInput;",
  "declare const since: sdk.ListSnapshot<sdk.Product>, stock: sdk.ListSnapshot<sdk.WarehouseItem>;",
  "declare const filename: string, url: string, etag: string, customIdentifier: string, legacySku: string;",
  "interface Row { readonly id: number } declare const rows: readonly Row[]; declare const closedAfter: Date;",
  "declare const map: (row: Row) => sdk.IdentifiedOrderInput; declare const pairs: readonly sdk.RenderInput[];",
];

const sdkTypes = (result: string) => result.replace(/\b(?!AsyncIterable|Row\b)[A-Z]\w+/g, "sdk.$&");

/** A program that compiles only when each call has exactly the arguments and the result of the table, one line for each call. */
export const program = (): string =>
  [
    'import type * as sdk from "pod-partner";',
    ...given,
    "type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;",
    "const result = <Expected>() => <Actual>(actual: Actual, same: Same<Awaited<Actual>, Expected>): void => undefined;",
    ...[
      ...specification.map(([, , ...call]) => call),
      ...combined.map(([call, input, , type]) => [call, input, type]),
    ].map(([call, input, type = ""]) => `result<${sdkTypes(type)}>()(partner.${call}(${input}), true);`),
  ].join("\n");

const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;

const section = (part: string, title: string): string =>
  [
    `## ${title}`,
    "",
    "| Endpoint | Call | Result |",
    "|---|---|---|",
    ...specification
      .filter(([of]) => of === part)
      .map(([, endpoint, call, input, result]) => row(code(endpoint), code(`partner.${call}(${input})`), code(result))),
    "",
  ].join("\n");

/** The page `docs/endpoints.md`. */
export const page = (): string =>
  `${[
    "# Which method calls which endpoint?",
    "",
    "`partner` is a `PodPartner`. Required input is positional. Options go into one last object, which also takes the",
    "[request options](options.md#a-request). Every result except a list with pages is a promise with `withResponse()`. Iterate a `Paginator`",
    "with `for await`: [pagination](pagination.md). Without an `etag` or `lastModified`, `media` and `layerImage` give a `Download`.",
    "`void` means a 204 response. `pod-partner` exports each type.",
    "",
    ...Object.entries(titles).map(([part, title]) => section(part, title)),
    "## Methods that combine endpoints",
    "",
    "| Call | Effect | Result |",
    "|---|---|---|",
    ...combined.map(([call, input, effect, result]) => row(code(`partner.${call}(${input})`), effect, code(result))),
    "",
    "`partner.rateLimits` sends nothing: it reports the [rate limits](rate-limits.md) of the latest responses.",
  ].join("\n")}\n`;
