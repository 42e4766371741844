/** What a request that took a token is remembered by until it is answered. */
export interface SentRequest {
  readonly sentAt: number;
  /** The level right after its token was taken, less what others have been found to take since. */
  level: number;
  /** How many requests had been sent by then, itself included. */
  readonly sent: number;
  /** How many had been answered. */
  readonly answered: number;
  /** How many requests that were sent later were answered earlier: they were likely served before it. */
  overtaken: number;
}
