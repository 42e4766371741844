/** Every error code of specification 7, with a hint: what a partner can do next. The service may add codes at any time. */
export const errorCodes = {
  missing_address: "Set `dropshipAddress`: a dropship order needs a destination.",
  missing_image_reference: "Set `imageReference` on each orderline whose product is printed.",
  invalid_address_missing_email: "Set `email` in the dropship address.",
  invalid_address_denied_country: "Use another destination: the service does not deliver to this `countryCode`.",
  product_not_orderable:
    "Check the product's `status`: only prelaunched, launched and sunsetted products can be ordered.",
  store_not_writable_via_api: "Use a store whose `integration` is `api`; the API cannot write to other stores.",
  canceled_quantity_below_current:
    "Read the order and send at least its current `canceledQuantity`: the value is the absolute total, not a difference.",
  canceled_quantity_exceeds_shippable: "Read the order and cancel at most `quantity - shippedQuantity` of a line.",
  already_in_production: "The order is in production and can no longer be canceled.",
  order_completed: "Every orderline is shipped or canceled, so the order can no longer be changed.",
  order_not_dropship: "Use a dropship order: a combined order has no address of its own to replace.",
  replacement_address_locked:
    "The address cannot change: a replacement order goes to the destination of the claim that it settles.",
  order_not_in_shipment: "Check `orderReference` and `shipmentReference`: the shipment contains no item of the order.",
  orderline_not_in_shipment: "Check `orderlineIndex`: the shipment does not contain that orderline.",
  package_missing_category_not_allowed: "Use `claims.createPackageMissing` for a missing package.",
  evidence_required:
    "Upload a photo with `evidence.upload` and set its reference in `evidenceReferences` of the claimline.",
  shipment_too_recent:
    "File the claim after the delivery window has passed. The message names the first possible date.",
  rendertoken_limit_exceeded:
    "Retry after the weekly reset (Monday 00:00 Europe/Amsterdam). `rendertokens.get()` returns the remaining tokens.",
  rate_limited: "Keep `pacing` on, use one client per process, or raise `retry.maxRetryAfter`.",
  unknown_input_error: "The service rejected the input. Only the message describes the reason.",
} as const;

/** An error code that this version of the SDK knows (specification 7). */
export type KnownErrorCode = keyof typeof errorCodes;

/** The service's error code, an open enum: editors complete the known codes, and unknown codes are returned unchanged. */
export type ErrorCode = KnownErrorCode | (string & Record<never, never>);

/** The hint of a code; undefined for an unknown code. */
export const hintFor = (code: string | undefined): string | undefined =>
  code !== undefined && Object.hasOwn(errorCodes, code) ? errorCodes[code as KnownErrorCode] : undefined;
