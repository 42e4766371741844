/** Every error code of specification 7, with what a partner can do about it. The service may add codes at any time. */
export const errorCodes = {
  missing_address: "Give `dropshipAddress`: a dropship order needs a destination.",
  missing_image_reference: "Give `imageReference` on each orderline whose product is printed.",
  invalid_address_missing_email: "Set `email` in the dropship address.",
  invalid_address_denied_country: "The service does not deliver to this `countryCode`.",
  product_not_orderable:
    "Check the product's `status`: only prelaunched, launched and sunsetted products can be ordered.",
  store_not_writable_via_api: "Use a store whose `integration` is `api`; others are written by their own platform.",
  canceled_quantity_below_current:
    "`canceledQuantity` is the absolute total: read the order and give at least its current value.",
  canceled_quantity_exceeds_shippable:
    "Read the order: at most `quantity - shippedQuantity` of a line can be canceled.",
  already_in_production: "Too late to cancel: the order is in production.",
  order_completed: "Every orderline is shipped or canceled: nothing is left to change.",
  order_not_dropship: "Only a dropship order has an address that can be replaced.",
  replacement_address_locked: "A replacement order goes to the destination of the claim that it settles.",
  order_not_in_shipment: "Check the pair: no item of this order was shipped in this shipment.",
  orderline_not_in_shipment: "Check `orderlineIndex`: that line was not shipped in this shipment.",
  package_missing_category_not_allowed: "Use `claims.createPackageMissing` for a missing package.",
  evidence_required: "Upload a photo with `evidence.upload` and give its reference on the claimline.",
  shipment_too_recent:
    "Wait for the delivery window to pass; the message names the date from which filing is possible.",
  rendertoken_limit_exceeded: "Wait for the weekly reset (Monday 00:00 Europe/Amsterdam), or see `rendertokens.get()`.",
  rate_limited: "Let the SDK pace the calls, share one client per process, or raise `retry.maxRetryAfter`.",
  unknown_input_error: "The service refused the input without saying why; the message is all there is.",
} as const;

/** An error code that this version knows. */
export type KnownErrorCode = keyof typeof errorCodes;

/** The service's error code: the known ones complete in an editor, an unknown one is passed on as it came. */
export type ErrorCode = KnownErrorCode | (string & Record<never, never>);

/** What to do about a code, when it is known. */
export const hintFor = (code: string | undefined): string | undefined =>
  code !== undefined && Object.hasOwn(errorCodes, code) ? errorCodes[code as KnownErrorCode] : undefined;
