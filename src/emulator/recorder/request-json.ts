/** A request in the list of the log, as JSON. A missing value is null. */
export interface RequestSummary {
  readonly id: number;
  /** Milliseconds since 1970, by the emulator's clock. */
  readonly time: number;
  /** When it arrived by the clock of the connection, in milliseconds: no speed and no move of the emulator's clock changes it. */
  readonly start: number;
  /** The call of the client: `orders.create`. */
  readonly call: string | null;
  readonly method: string;
  /** Relative to the base URL, with the query. */
  readonly path: string;
  readonly status: number | null;
  /** Milliseconds. */
  readonly duration: number | null;
  /** The tokens of each bucket when the request ended. */
  readonly tokens: Readonly<Record<string, number>> | null;
  /** The kind of the fault that struck. */
  readonly fault: string | null;
  /** The code of the error object. */
  readonly code: string | null;
  /**
   * What shows which requests belong together: the `customIdentifier` that the creation or the look-up of an order names; of another request
   * with a body of text, a digest of it. Null without either.
   */
  readonly subject: string | null;
  readonly outcome: "open" | "responded" | "dropped" | "aborted";
}

/** One half of an exchange in full. */
export interface MessageView {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyView | null;
}

export interface BodyView {
  readonly type: string;
  readonly size: number;
  /** Null for a body that is not text. */
  readonly text: string | null;
  readonly truncated: boolean;
}

/** A request in full. */
export interface RequestDetail extends RequestSummary {
  /** When the service itself worked on it, in milliseconds since it arrived, and its status. Null when it did not reach the service. */
  readonly service: { readonly began: number; readonly ended: number; readonly status: number } | null;
  /** Milliseconds until the head of the response was ready. */
  readonly responded: number | null;
  readonly request: MessageView;
  readonly response: MessageView | null;
}
