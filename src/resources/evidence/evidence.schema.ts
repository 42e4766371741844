import type { EvidenceReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A photo for a claim (specification 2.7). The service deletes it after a day if no claim uses it. */
export interface Evidence {
  readonly reference: EvidenceReference;
}
export const evidence = () => open<Evidence>({ reference: reference("Evidence") });
