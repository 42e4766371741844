import * as z from "zod/mini";
import { cursor, endpoint, field, json, list, nothing, page } from "../../http/endpoint.ts";
import { timestampInput } from "../../schemas/shape.ts";
import {
  createdClaim,
  type ItemIssuesInput,
  itemIssuesInput,
  type PackageMissingInput,
  packageMissingInput,
} from "./claim-input.schema.ts";
import { claim, claimcategory, claimSummary } from "./claims.schema.ts";

export const listClaimcategories = endpoint({
  call: "claims.categories.list",
  method: "GET",
  path: "/claimcategories",
  response: list("claimcategories", claimcategory),
  repeat: "safe",
});

export const createPackageMissing = endpoint({
  call: "claims.createPackageMissing",
  method: "POST",
  path: "/claim-package-missing",
  request: json<PackageMissingInput>("claim", packageMissingInput),
  response: field("claim", createdClaim),
  repeat: "recoverable",
});

export const createItemIssues = endpoint({
  call: "claims.createItemIssues",
  method: "POST",
  path: "/claim-item-issues",
  request: json<ItemIssuesInput>("claim", itemIssuesInput),
  response: field("claim", createdClaim),
  repeat: "recoverable",
});

export const listClaims = endpoint({
  call: "claims.list",
  method: "GET",
  path: "/claims",
  query: { ...cursor, closedAfter: () => z.optional(timestampInput()) },
  response: page("claims", claimSummary),
  repeat: "safe",
});

export const getClaim = endpoint({
  call: "claims.get",
  method: "GET",
  path: "/claims/{claimReference}",
  response: field("claim", claim),
  repeat: "safe",
});

export const retractClaim = endpoint({
  call: "claims.retract",
  method: "POST",
  path: "/claims/{claimReference}/retract",
  response: nothing,
  repeat: "recoverable",
});
