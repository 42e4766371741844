import type { KnownErrorCode } from "../../errors/api.ts";

/** Codes that the specification does not show. The emulator uses them for refusals that the specification gives no code for. */
type AssumedCode =
  | "unauthorized"
  | "permission_denied"
  | "not_implemented"
  | "not_found"
  | "gone"
  | "render_failed"
  | "custom_identifier_taken"
  | "claim_not_pending"
  | "shipment_already_claimed"
  | "order_already_replaced"
  | "warranty_expired"
  | "claimed_quantity_exceeds_shipped";

export type ProblemCode = KnownErrorCode | AssumedCode;

/** The status of each code. Where part 7 says only "4xx", it is the status that fits the table of statuses best. */
const statuses: Readonly<Record<ProblemCode, number>> = {
  missing_address: 400,
  missing_image_reference: 400,
  invalid_address_missing_email: 400,
  invalid_address_denied_country: 400,
  product_not_orderable: 400,
  store_not_writable_via_api: 403,
  canceled_quantity_below_current: 409,
  canceled_quantity_exceeds_shippable: 409,
  already_in_production: 409,
  order_completed: 409,
  order_not_dropship: 409,
  replacement_address_locked: 409,
  order_not_in_shipment: 400,
  orderline_not_in_shipment: 400,
  package_missing_category_not_allowed: 400,
  evidence_required: 400,
  shipment_too_recent: 409,
  rendertoken_limit_exceeded: 429,
  rate_limited: 429,
  unknown_input_error: 400,
  unauthorized: 401,
  permission_denied: 403,
  not_implemented: 501,
  not_found: 404,
  gone: 410,
  render_failed: 409,
  custom_identifier_taken: 409,
  claim_not_pending: 409,
  shipment_already_claimed: 409,
  order_already_replaced: 409,
  warranty_expired: 409,
  claimed_quantity_exceeds_shipped: 409,
};

/** A handler throws it to refuse a request. It becomes the error object of the specification (2.2). */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  /** Milliseconds for the header `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(code: ProblemCode, message: string, retryAfter?: number) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.status = statuses[code];
    this.retryAfter = retryAfter;
  }
}

/** Returns the resource that the path names, or throws a 404. */
export function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Problem("not_found", `${what} does not exist`);
  return value;
}

/** Returns a resource that the body names, or throws a 400: the resource of the path exists, but the one in the body does not. */
export function known<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Problem("unknown_input_error", `${what} does not exist`);
  return value;
}
