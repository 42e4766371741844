/** What the specification does not show, and the SDK assumes. Override it with the client's option `assumptions`. */
export interface Assumptions {
  /** The query parameter of the look-up by custom identifier (specification 4.12). Default `customIdentifier`. */
  readonly customIdentifierParameter: string;
  /** The field of its response (specification 4.12). Default `orderReference`. */
  readonly orderReferenceField: string;
  /**
   * Milliseconds that the service may take to carry out a creation, from sending on. When a gateway or the client stops waiting, the
   * SDK looks for the creation during this time before it sends it again. Default 30 000.
   */
  readonly processingTime: number;
}

export const assumptions: Assumptions = {
  customIdentifierParameter: "customIdentifier",
  orderReferenceField: "orderReference",
  processingTime: 30_000,
};
