import type { Policy } from "../../http/endpoint.ts";

/** A header, or a parameter of a query. */
export interface HarPair {
  readonly name: string;
  readonly value: string;
}

/** What a request and a response have in common. A size of -1 is unknown. */
export interface HarMessage {
  readonly httpVersion: string;
  readonly cookies: readonly never[];
  readonly headers: readonly HarPair[];
  readonly headersSize: number;
  readonly bodySize: number;
}

/** One request in an HTTP archive. */
export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: HarMessage & {
    readonly method: string;
    readonly url: string;
    readonly queryString: readonly HarPair[];
    readonly postData?: { readonly mimeType: string; readonly text: string };
  };
  readonly response: HarMessage & {
    /** 0 without a response. */
    readonly status: number;
    readonly statusText: string;
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string };
    readonly redirectURL: string;
  };
  readonly cache: Readonly<Record<string, never>>;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly _id: number;
  readonly _call?: string;
  readonly _fault?: string;
  readonly _outcome: string;
  readonly _tokens?: Readonly<Record<Policy, number>>;
}

/** An HTTP archive, version 1.2. */
export interface Har {
  readonly log: {
    readonly version: "1.2";
    readonly creator: { readonly name: string; readonly version: string };
    readonly entries: readonly HarEntry[];
  };
}
