/** The forms of a response that mean that there is no such order. */
export const noOrderForms = ["404", "empty", "null", "bare-404"] as const;
export type NoOrder = (typeof noOrderForms)[number];

/** Values that the specification does not show and the SDK assumes. The client's option `assumptions` overrides them. */
export interface Assumptions {
  /** Name of the query parameter of the look-up by custom identifier (specification 4.12). Default `customIdentifier`. */
  readonly customIdentifierParameter: string;
  /** Name of the response field of that look-up (specification 4.12). Default `orderReference`. */
  readonly orderReferenceField: string;
  /**
   * The responses of that look-up that mean: no order has this identifier. What is not among them decides nothing, and nothing is created.
   *
   * - `404`: a 404 with the error object of the specification (7.1).
   * - `empty`: a 2xx with an empty body, such as a 204.
   * - `null`: a 200 with `null`, or with an object of which every field is null, such as `{}`.
   * - `bare-404`: a 404 with an empty body. A gateway may send that without asking the service, so it is no default.
   *
   * Default `["404", "empty", "null"]`.
   */
  readonly noOrder: readonly NoOrder[];
  /**
   * Maximum milliseconds that the service needs to carry out a creation after it was sent. When the response to a creation is lost, the
   * SDK repeats its look-up during this time before it sends the creation again. Default 30 000.
   */
  readonly processingTime: number;
}

export const assumptions: Assumptions = {
  customIdentifierParameter: "customIdentifier",
  orderReferenceField: "orderReference",
  noOrder: ["404", "empty", "null"],
  processingTime: 30_000,
};
