/** Values that the specification does not show and the SDK assumes. The client's option `assumptions` overrides them. */
export interface Assumptions {
  /** Name of the query parameter of the look-up by custom identifier (specification 4.12). Default `customIdentifier`. */
  readonly customIdentifierParameter: string;
  /** Name of the response field of that look-up (specification 4.12). Default `orderReference`. */
  readonly orderReferenceField: string;
  /**
   * Maximum milliseconds that the service needs to carry out a creation after it was sent. When the response to a creation is lost, the
   * SDK repeats its look-up during this time before it sends the creation again. Default 30 000.
   */
  readonly processingTime: number;
}

export const assumptions: Assumptions = {
  customIdentifierParameter: "customIdentifier",
  orderReferenceField: "orderReference",
  processingTime: 30_000,
};
