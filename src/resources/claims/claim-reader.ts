import type { ApiCall } from "../../http/call/call.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { Paginator } from "../../pagination/paginator.ts";
import type { ClaimReference } from "../../references/references.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import type { Claim, ClaimSummary } from "./claims.schema.ts";
import type { KnownClaims } from "./known-claims.ts";

/** Reads claims for a look-up. `list` also reports the response of each page. */
export interface ClaimReader {
  list(options: RequestOptions, onResponse: (response: ResponseHead) => void): Paginator<ClaimSummary>;
  get(reference: ClaimReference, options: RequestOptions): ApiCall<Claim>;
  readonly known: KnownClaims;
  now(): number;
}
