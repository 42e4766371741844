/** One step of a call: queueing for a token, an attempt on the wire, a wait, a look-up after a lost answer, or a look at a render. */
export interface TimelineEntry {
  /** What the time was spent on. */
  readonly step: "queue" | "attempt" | "backoff" | "retry-after" | "poll" | "lookup";
  /** When it began, in milliseconds since the call began. */
  readonly at: number;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** How it ended: an HTTP status, the name of an error, or a word. */
  readonly outcome: string;
}
