import type { Gap } from "./gap.ts";

/** Part 4 of the specification: endpoints. */
export const endpointGaps: readonly Gap[] = [
  {
    section: "4.1, 4.9",
    notShown: 'content where an endpoint has "no body"',
    emulator: "`{}` passes; everything else is refused with `unknown_input_error`",
    code: ["src/emulator/http/body.ts"],
  },
  {
    section: "4.6",
    notShown: "the file of a failed render",
    emulator: "409 `render_failed`",
    controls: ["failRender"],
    code: ["src/emulator/routes/renders.ts"],
  },
  {
    section: "4.6",
    notShown: "how a pair whose render failed is rendered again",
    emulator: "never: it has the same failed render, and each creation costs its tokens",
    controls: ["failRender"],
    code: ["src/emulator/routes/renders.ts"],
  },
  {
    section: "4.6",
    notShown: "fields of a perspective in the list; what both filters together select",
    emulator:
      'all fields, or with `shapes: "minimal"` the reference; the perspectives of the compositions of that scene and product',
    options: ["shapes"],
    code: ["src/emulator/routes/rendering.ts"],
  },
  {
    section: "4.6",
    notShown: "a filter by a reference that no resource has",
    emulator: "an empty list",
    code: ["src/emulator/routes/rendering.ts"],
  },
  {
    section: "4.6",
    notShown: "whether reading a composition and creating a render respond with 410, as the look-up does",
    emulator: "yes, when its product is archived",
    controls: ["updateProduct"],
    code: ["src/emulator/routes/rendering.ts", "src/emulator/routes/renders.ts"],
  },
  {
    section: "4.6 rule 2",
    notShown: "whether the tokens of a failed render are returned",
    emulator: "no",
    controls: ["failRender"],
    code: ["src/emulator/routes/renders.ts"],
  },
  {
    section: "4.7",
    notShown:
      "a cancellation in production that changes no total: rule 2 (204) or rule 4 (409 `already_in_production`)",
    emulator:
      "rule 2: it responds with 204, so that a client can retry a cancellation whose response was lost; one changed total makes it a 409, and nothing is canceled",
    controls: ["startProduction"],
    code: ["src/emulator/rules/cancel.ts"],
  },
  {
    section: "4.7",
    notShown: "a line that one cancellation names more than once; a cancellation without lines",
    emulator: "`unknown_input_error`; 204, because lines that are not listed keep their value",
    code: ["src/emulator/rules/cancel.ts"],
  },
  {
    section: "4.7",
    notShown: "whether an address change in a store of an upstream platform is refused with 403, as a cancellation is",
    emulator: "no: the rules of the address list no such refusal",
    controls: ["setStoreIntegration"],
    code: ["src/emulator/routes/orders.ts"],
  },
  {
    section: "4.7 address rule 1",
    notShown: "whether a complete address may lack fields",
    emulator: "yes: they are stored empty, as in an order",
    code: ["src/emulator/http/requests.schema.ts"],
  },
  {
    section: "4.7",
    notShown: "fields of an order in the list",
    emulator: "`reference`, `status`, `legacyOrderCode`",
    code: ["src/emulator/routes/orders.ts"],
  },
  {
    section: "4.7, 4.9",
    notShown: "shipping prices and delivery times",
    emulator: "made up, by zone and level",
    code: ["src/emulator/rules/shipping.ts"],
  },
  {
    section: "4.9",
    notShown: "which claims count against the shipped quantity, besides open ones",
    emulator:
      "resolved ones, because refunded or replaced items are settled; a rejected or retracted claim frees its items",
    controls: ["reviewClaim"],
    code: ["src/emulator/rules/claims.ts"],
  },
  {
    section: "4.9",
    notShown: 'which "existing claims" of a shipment keep it from a package-missing claim',
    emulator: "all except retracted ones",
    code: ["src/emulator/rules/claims.ts"],
  },
  {
    section: "4.9",
    notShown: "whether a claim may leave out `evidenceReferences` (only `comment` is called optional)",
    emulator: "yes: none are given",
    code: ["src/emulator/http/requests.schema.ts"],
  },
  {
    section: "4.9",
    notShown: "one photo as the evidence of two claims",
    emulator: "it is refused with `unknown_input_error`",
    code: ["src/emulator/rules/evidence.ts"],
  },
  {
    section: "4.9",
    notShown: "what a character of a comment is, of which there may be 1000",
    emulator: "a code point: an emoji of two units of UTF-16 counts once",
    code: ["src/emulator/http/requests.schema.ts"],
  },
  {
    section: "4.9",
    notShown: "which forms of a timestamp `closedAfter` takes",
    emulator: "each of ISO 8601 with a date; without a time it is 00:00, without an offset UTC",
    code: ["src/emulator/http/instant.ts"],
  },
  {
    section: "4.11, 1",
    notShown: "whether a list without pages has a `nextCursor`: part 1 says that a list is returned with it",
    emulator: "no",
    code: ["src/emulator/http/respond.ts"],
  },
  {
    section: "4.11 rule 5",
    notShown: "for how long a cursor is valid, and the response to another text",
    emulator: "as long as the world; `unknown_input_error`",
    code: ["src/emulator/core/collection.ts"],
  },
  {
    section: "4.12 gap 1",
    notShown: "success status of creations",
    emulator: "200",
    code: ["src/emulator/http/respond.ts"],
  },
  {
    section: "4.12 gap 2",
    notShown: "filters of `GET /products`, `/orders`, `/images`, `/items` beyond `cursor`",
    emulator: "none: an unknown parameter is refused with `unknown_input_error`",
    code: ["src/emulator/http/input.ts"],
  },
  {
    section: "4.12 gap 3",
    notShown: "response shape of `GET /organization`, `/accounts`, `/stores`, `/brands`",
    emulator: "under `organization`, `accounts`, `stores`, `brands`",
    options: ["organizations"],
    code: ["src/emulator/routes/organization.ts"],
  },
  {
    section: "4.12 gap 4",
    notShown: "single packagings and productgroups; the shape of their lists",
    emulator: "no single ones (404); lists under `packagings`, `productgroups`",
    code: ["src/emulator/routes/catalog.ts"],
  },
  {
    section: "4.12 gap 5",
    notShown: "address endpoints beyond reading one; its response shape",
    emulator: "no others (404); under `address`, with `reference` and the 13 fields",
    code: ["src/emulator/routes/addresses.ts"],
  },
  {
    section: "4.12 gap 6",
    notShown: "warehouse endpoints beyond `GET /items`",
    emulator: "none (404)",
    code: ["src/emulator/routes/warehouse.ts"],
  },
  {
    section: "4.12 gap 7",
    notShown: "the query parameter of the look-up by custom identifier; other look-ups by legacy code",
    emulator: "`customIdentifier`, and `orderReference` in the response; no other look-ups (404)",
    code: ["src/schemas/assumptions.ts"],
  },
  {
    section: "4.12 gap 8",
    notShown: "the order field that selects a brand",
    emulator: "none: a brand is refused as an unknown field",
    code: ["src/emulator/http/requests.schema.ts"],
  },
];
