import type { ImageSource } from "../../binary/source.ts";
import { endpoint, field } from "../../http/endpoint/endpoint.ts";
import { type Evidence, evidence } from "./evidence.schema.ts";

/** A retry does no harm: the service deletes an unused copy after a day (specification 2.7). */
export const uploadEvidence = endpoint<"/evidence", Evidence, ImageSource>({
  call: "evidence.upload",
  method: "POST",
  path: "/evidence",
  request: { kind: "image" },
  response: field("evidence", evidence),
  policies: ["default", "uploads"],
  repeat: "idempotent",
});
