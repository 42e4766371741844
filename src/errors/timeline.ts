/** One step of a call: a look into the file cache, waiting in the queue, an attempt, a wait before a retry, a look-up, or a wait between two polls. */
export interface TimelineEntry {
  /** The kind of the step. */
  readonly step: "cache" | "queue" | "attempt" | "backoff" | "retry-after" | "poll" | "lookup";
  /** The start of the step, in milliseconds since the call began. */
  readonly at: number;
  /** The duration of the step, in milliseconds. */
  readonly took: number;
  /** The result of the step: an HTTP status, the name of an error, or a word such as `waited`. Of the cache: `fresh`, `stale` or `absent`. */
  readonly outcome: string;
}
