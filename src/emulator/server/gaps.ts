import type { Switches } from "../http/route.ts";

/** What the emulator does for every endpoint, and what changes it. The routes say what is special about each. */
export const everyEndpoint = {
  models: "keys and permissions, rate limits, 501, isolated organizations, strict requests, faults on the way",
  options: ["keys", "organizations", "limits", "unavailable", "environment", "shapes", "clock"],
  controls: ["updateKey", "drain", "faults.add", "faults.remove", "faults.clear"],
} as const satisfies Switches & { readonly models: string };

/** A place where the specification shows nothing, and what the emulator does there. */
export interface Gap extends Switches {
  /** The part of the specification. */
  readonly section: string;
  readonly notShown: string;
  /** What the emulator assumes. */
  readonly emulator: string;
}

/** Parts 1 to 3 of the specification: organizations, fields and states. */
const resourceGaps: readonly Gap[] = [
  {
    section: "1",
    notShown: "nothing: orders of the test environment are never produced",
    emulator:
      "differs on purpose: it produces and ships in both environments, so that a test can see a shipment; it does neither by itself",
    options: ["environment", "automation"],
    controls: ["startProduction", "ship", "automate"],
  },
  {
    section: "1",
    notShown: "the delivery of a parcel: no field of a shipment or an order shows it",
    emulator: "nothing: it cannot be observed, so it has no control",
  },
  {
    section: "1",
    notShown: 'a dropship order "gives exactly one shipment", yet 2.5 counts shipped units and 4.9 claims by shipment',
    emulator: "by default one; `ship` with `lines` and the automation's `parts` make several",
    options: ["automation"],
    controls: ["ship", "automate"],
  },
  {
    section: "1",
    notShown: "which stores have the same combined address",
    emulator: "the stores of one account; combined orders of other stores do not ship together",
    controls: ["ship"],
  },
  {
    section: "1",
    notShown: "when combined orders are consolidated",
    emulator: "only when `ship` names several; the automation ships each alone",
    options: ["automation"],
    controls: ["ship"],
  },
  {
    section: "1, 2.10",
    notShown: "the level of a combined shipment",
    emulator: '`tracked`; with `shapes: "minimal"` the shipment has no tracking',
    options: ["shapes"],
    controls: ["ship"],
  },
  {
    section: "1",
    notShown: "who owns the private productgroup, the private scene and the warehouse items",
    emulator: "the demo organization; others do not see them",
    options: ["organizations"],
  },
  {
    section: "2.3",
    notShown: "`countryCode` is ISO 3166-1, and has a pattern",
    emulator: "two capital letters; the emulator does not check that the country exists",
  },
  {
    section: "2.3",
    notShown: "the form of an e-mail address",
    emulator: "an `@` between two characters; otherwise `unknown_input_error`, but not for a quote",
  },
  {
    section: "2.3 rule 3",
    notShown: "which countries are denied",
    emulator: "BY, CU, IR, KP, RU and SY",
  },
  {
    section: "2.3 rule 4",
    notShown: "which address fields are required, and their maximum lengths",
    emulator:
      "`countryCode`, `email` (not for a quote), `state` in the US and Italy; no lengths; absent fields are stored empty",
  },
  {
    section: "2.4",
    notShown: "a repeated `customIdentifier`",
    emulator: "no second order: the first one's reference, also when the content differs",
    options: ["repeatedIdentifier"],
  },
  {
    section: "2.4",
    notShown: "how far a `customIdentifier` is unique, and an empty one",
    emulator: "in the organization; an empty one identifies nothing",
    options: ["repeatedIdentifier"],
  },
  {
    section: "2.4",
    notShown: "order fields beyond those listed, and the field for a preferred packaging",
    emulator: "none; a packaging is refused as an unknown field",
  },
  {
    section: "2.4, 2.5, 2.8",
    notShown:
      "whether a value that does not apply is null or missing: the image of a line without print, the address of a combined order, the comment of a claim without one",
    emulator: 'null, and an empty comment; with `shapes: "minimal"` they are missing, and the comment is null',
    options: ["shapes"],
  },
  {
    section: "2.5, 4.9",
    notShown: "the smallest quantity of a line",
    emulator: "1; a smaller one is refused with `unknown_input_error`",
  },
  {
    section: "2.4, 3.4",
    notShown: "shape, values and transitions of an order's `status`",
    emulator: "an object with `code`: `received`, `in_production`, `partially_shipped`, `shipped`, `canceled`",
    options: ["automation"],
    controls: ["startProduction", "ship", "automate"],
  },
  {
    section: "2.6",
    notShown: "the entries of a product's `media`, and the place of layer images",
    emulator: "`filename`, `url`; `layers.images` with `name`, `url`",
  },
  {
    section: "2.6",
    notShown: "the name of a replaced example render",
    emulator: "a new one, because its files may be cached for a year; the old name is a 404",
    controls: ["replaceMedia"],
  },
  {
    section: "2.6",
    notShown: "fields of productgroups and packagings; prices",
    emulator:
      "`reference` and `name`; no response has the price, which is made up and raises the lowest shipping level",
  },
  {
    section: "2.6",
    notShown: "how a product leads to its productgroup",
    emulator: "no field of a product names it",
  },
  {
    section: "2.6, 3.3",
    notShown: "which fields of a product may be incomplete",
    emulator: 'none; with `shapes: "minimal"` an announced product has no stock, no print data and no layers',
    options: ["shapes"],
    controls: ["updateProduct"],
  },
  {
    section: "2.6, 3.3, 7",
    notShown: "the causes of `product_not_orderable`",
    emulator:
      "the stage alone. A product without stock can be ordered. A product of a private productgroup does not exist for other organizations: `unknown_input_error`",
    controls: ["updateProduct"],
  },
  {
    section: "2.7",
    notShown: "whether identical evidence has the same reference",
    emulator: "each upload has a new one",
  },
  {
    section: "2.6, 2.10",
    notShown: "what changes the stock",
    emulator: "only controls: orders and shipments do not",
    controls: ["setStock", "updateProduct"],
  },
  {
    section: "2.8",
    notShown: "the form of `createdBy`",
    emulator: "the reference of the key",
  },
  {
    section: "2.8",
    notShown: "the origin and the path of evidence URLs, and whether they need the key",
    emulator: "`/evidence/{evidenceReference}` below the base URL, with the key",
  },
  {
    section: "2.8",
    notShown: "`decision` and `decided` after a retraction",
    emulator: "null",
  },
  {
    section: "2.8, 4.9",
    notShown: "the order of a package-missing claim about a combined shipment, whose lines carry no order",
    emulator: "the first order of the shipment; the lines of all orders, one after the other",
  },
  {
    section: "2.9",
    notShown: "further composition fields",
    emulator: "none",
  },
  {
    section: "2.10",
    notShown: "the entries of a shipment's `orders` and of an item's `products`",
    emulator: "objects with `reference`",
  },
  {
    section: "2.11",
    notShown: "fields of organization, account, store and brand",
    emulator:
      "`name`, with `environment` in an organization, `reference` in the others, `integration` and `legacyCode` in a store",
    options: ["organizations"],
  },
  {
    section: "3.1",
    notShown: "which units of a decided claim can be claimed again",
    emulator: "the rejected ones",
    controls: ["reviewClaim"],
  },
  {
    section: "3.3",
    notShown: "what moves a product to its next stage",
    emulator: "only a control",
    controls: ["updateProduct"],
  },
  {
    section: "3.3",
    notShown: "what of a pre-order waits",
    emulator:
      "the whole order, until all products of its open lines are launched; it can be canceled, and a step of the automation that was due happens at the launch",
    options: ["automation"],
    controls: ["updateProduct"],
  },
  {
    section: "3.4",
    notShown: "what a hold stops",
    emulator:
      "production, every shipment, and the steps of the automation until the release; it does not stop a cancellation or a new address",
    controls: ["hold", "release"],
  },
];

/** Part 4 of the specification: endpoints. */
const endpointGaps: readonly Gap[] = [
  {
    section: "4.1, 4.9",
    notShown: 'content where an endpoint has "no body"',
    emulator: "`{}` passes; everything else is refused with `unknown_input_error`",
  },
  {
    section: "4.6",
    notShown: "the file of a failed render",
    emulator: "409 `render_failed`",
    controls: ["failRender"],
  },
  {
    section: "4.6",
    notShown: "how a pair whose render failed is rendered again",
    emulator: "never: it has the same failed render, and each creation costs its tokens",
    controls: ["failRender"],
  },
  {
    section: "4.6",
    notShown: "fields of a perspective in the list; what both filters together select",
    emulator:
      'all fields, or with `shapes: "minimal"` the reference; the perspectives of the compositions of that scene and product',
    options: ["shapes"],
  },
  {
    section: "4.6",
    notShown: "a filter by a reference that no resource has",
    emulator: "an empty list",
  },
  {
    section: "4.6",
    notShown: "whether reading a composition and creating a render respond with 410, as the look-up does",
    emulator: "yes, when its product is archived",
    controls: ["updateProduct"],
  },
  {
    section: "4.6 rule 2",
    notShown: "whether the tokens of a failed render are returned",
    emulator: "no",
    controls: ["failRender"],
  },
  {
    section: "4.7",
    notShown:
      "a cancellation in production that changes no total: rule 2 (204) or rule 4 (409 `already_in_production`)",
    emulator:
      "rule 2: it responds with 204, so that a client can retry a cancellation whose response was lost; one changed total makes it a 409, and nothing is canceled",
    controls: ["startProduction"],
  },
  {
    section: "4.7",
    notShown: "a line that one cancellation names more than once; a cancellation without lines",
    emulator: "`unknown_input_error`; 204, because lines that are not listed keep their value",
  },
  {
    section: "4.7",
    notShown: "whether an address change in a store of an upstream platform is refused with 403, as a cancellation is",
    emulator: "no: the rules of the address list no such refusal",
    controls: ["setStoreIntegration"],
  },
  {
    section: "4.7 address rule 1",
    notShown: "whether a complete address may lack fields",
    emulator: "yes: they are stored empty, as in an order",
  },
  {
    section: "4.7",
    notShown: "fields of an order in the list",
    emulator: "`reference`, `status`, `legacyOrderCode`",
  },
  {
    section: "4.7, 4.9",
    notShown: "shipping prices and delivery times",
    emulator: "made up, by zone and level",
  },
  {
    section: "4.9",
    notShown: "which claims count against the shipped quantity, besides open ones",
    emulator:
      "resolved ones, because refunded or replaced items are settled; a rejected or retracted claim frees its items",
    controls: ["reviewClaim"],
  },
  {
    section: "4.9",
    notShown: 'which "existing claims" of a shipment keep it from a package-missing claim',
    emulator: "all except retracted ones",
  },
  {
    section: "4.9",
    notShown: "whether a claim may leave out `evidenceReferences` (only `comment` is called optional)",
    emulator: "yes: none are given",
  },
  {
    section: "4.9",
    notShown: "one photo as the evidence of two claims",
    emulator: "it is refused with `unknown_input_error`",
  },
  {
    section: "4.9",
    notShown: "what a character of a comment is, of which there may be 1000",
    emulator: "a code point: an emoji of two units of UTF-16 counts once",
  },
  {
    section: "4.9",
    notShown: "which forms of a timestamp `closedAfter` takes",
    emulator: "each of ISO 8601 with a date; without a time it is 00:00, without an offset UTC",
  },
  {
    section: "4.11, 1",
    notShown: "whether a list without pages has a `nextCursor`: part 1 says that a list is returned with it",
    emulator: "no",
  },
  {
    section: "4.11 rule 5",
    notShown: "for how long a cursor is valid, and the response to another text",
    emulator: "as long as the world; `unknown_input_error`",
  },
  {
    section: "4.12 gap 1",
    notShown: "success status of creations",
    emulator: "200",
  },
  {
    section: "4.12 gap 2",
    notShown: "filters of `GET /products`, `/orders`, `/images`, `/items` beyond `cursor`",
    emulator: "none: an unknown parameter is refused with `unknown_input_error`",
  },
  {
    section: "4.12 gap 3",
    notShown: "response shape of `GET /organization`, `/accounts`, `/stores`, `/brands`",
    emulator: "under `organization`, `accounts`, `stores`, `brands`",
    options: ["organizations"],
  },
  {
    section: "4.12 gap 4",
    notShown: "single packagings and productgroups; the shape of their lists",
    emulator: "no single ones (404); lists under `packagings`, `productgroups`",
  },
  {
    section: "4.12 gap 5",
    notShown: "address endpoints beyond reading one; its response shape",
    emulator: "no others (404); under `address`, with `reference` and the 13 fields",
  },
  {
    section: "4.12 gap 6",
    notShown: "warehouse endpoints beyond `GET /items`",
    emulator: "none (404)",
  },
  {
    section: "4.12 gap 7",
    notShown: "the query parameter of the look-up by custom identifier; other look-ups by legacy code",
    emulator: "`customIdentifier`, and `orderReference` in the response; no other look-ups (404)",
  },
  {
    section: "4.12 gap 8",
    notShown: "the order field that selects a brand",
    emulator: "none: a brand is refused as an unknown field",
  },
];

/** Parts 5 to 8 of the specification: keys, callbacks, errors and limits. */
const ruleGaps: readonly Gap[] = [
  {
    section: "5 rule 7",
    notShown: "the permission rules behind 403",
    emulator: "a list of calls for each key; the others get 403 `permission_denied`, and use tokens",
    options: ["keys"],
    controls: ["updateKey"],
  },
  {
    section: "6",
    notShown: "how an order is created through an integrator",
    emulator: "an integrator has its own key of the organization, with the integrator's code",
    options: ["keys"],
  },
  {
    section: "6",
    notShown: "which URL a repeated callback goes to",
    emulator: "the one that the store has at that time; without one, the callback is stopped",
    options: ["callbackUrl"],
    controls: ["setCallbackUrl"],
  },
  {
    section: "6 rule 2",
    notShown: "whether a shipment of a part of an order fires the callback",
    emulator: "yes, each shipment does",
    controls: ["ship"],
  },
  {
    section: "6 rule 3",
    notShown: "until when the deprecated aliases are sent",
    emulator: "they are sent",
    options: ["callbacks.aliases"],
  },
  {
    section: "6 rule 5",
    notShown: "when duplicates are sent",
    emulator: "never by themselves",
    options: ["callbacks.duplicates"],
    controls: ["callbacks.resend"],
  },
  {
    section: "6 rule 7",
    notShown: "the separate webhook system",
    emulator: "it is not modelled",
  },
  {
    section: "6 rule 8",
    notShown: "how long a callback call may take, and whether it follows a redirect",
    emulator: "10 s; a redirect is a failure",
    options: ["callbacks.timeout"],
  },
  {
    section: "7",
    notShown: "statuses of codes listed as 4xx; all codes of each endpoint",
    emulator: "the best fit; codes such as `not_found`, `gone`, `claim_not_pending`",
    controls: ["faults.add"],
  },
  {
    section: "7 rule 2",
    notShown: "which endpoints are not available, and the body of a 501",
    emulator: "none; the error object with `not_implemented`",
    options: ["unavailable"],
  },
  {
    section: "7 rule 3",
    notShown: "5xx other than 501",
    emulator: "none, except by a fault",
    controls: ["faults.add"],
  },
  {
    section: "8 rule 2",
    notShown: "when the service reads `r`, and which policies a response names",
    emulator: "when the request arrives; the policies that the request used",
    options: ["limits"],
    controls: ["drain"],
  },
  {
    section: "8 rules 1, 3",
    notShown: "whether a request that an empty bucket refuses draws the token of its other bucket",
    emulator: "no: a 429 on an upload or a download draws no `default` token",
    options: ["limits"],
    controls: ["drain"],
  },
  {
    section: "8",
    notShown: "page sizes",
    emulator: "50 on every list",
    options: ["pageSize"],
  },
  {
    section: "8",
    notShown: "maximum order quantity and orderlines per order",
    emulator: "none",
  },
  {
    section: "8",
    notShown: "maximum upload file size",
    emulator: "32 MiB for JSON and evidence; images of any size",
  },
  {
    section: "9 rule 2",
    notShown: "whether the base URL of a preview has the suffix `-beta`",
    emulator: "no: it ends in `/v2`",
    options: ["baseUrl"],
  },
];

/** Every place where the specification shows nothing and the emulator has to decide, in the order of the specification. */
export const gaps: readonly Gap[] = [...resourceGaps, ...endpointGaps, ...ruleGaps];
