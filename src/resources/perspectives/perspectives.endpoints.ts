import * as z from "zod/mini";
import { endpoint, field, list } from "../../http/endpoint/endpoint.ts";
import { reference } from "../../references/schema.ts";
import { perspective, perspectiveSummary } from "./perspectives.schema.ts";

export const listPerspectives = endpoint({
  call: "perspectives.list",
  method: "GET",
  path: "/perspectives",
  query: {
    sceneReference: () => z.optional(reference("Scene")),
    productReference: () => z.optional(reference("Product")),
  },
  response: list("perspectives", perspectiveSummary),
  repeat: "safe",
});

export const getPerspective = endpoint({
  call: "perspectives.get",
  method: "GET",
  path: "/perspectives/{perspectiveReference}",
  response: field("perspective", perspective),
  repeat: "safe",
});
