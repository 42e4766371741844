import type { Download } from "../../binary/download.ts";
import type { ImageSource } from "../../binary/source.ts";
import { binary, endpoint, field, type ResponseShape } from "../../http/endpoint.ts";
import type { EvidenceReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A photo for a claim (specification 2.7). The service deletes it after a day if no claim uses it. */
export interface Evidence {
  readonly reference: EvidenceReference;
}
const evidence = () => open<Evidence>({ reference: reference("Evidence") });

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

/** Uses a URL from a claim, because the specification does not show the path. Requests for evidence are never conditional. */
export const downloadEvidence = endpoint<string, Download>({
  call: "evidence.download",
  method: "GET",
  path: "{evidenceUrl}",
  response: binary as ResponseShape<Download>,
  repeat: "safe",
});
