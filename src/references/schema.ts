import * as z from "zod";
import { type Reference, type ReferenceKind, referenceFault, referencePattern } from "./references.ts";

/** The zod schema of a reference of one kind, derived from the table of kinds. */
export function reference<Kind extends ReferenceKind>(kind: Kind): z.ZodType<Reference<Kind>> {
  const error = (issue: { input?: unknown }) => referenceFault(kind, issue.input);
  return z.string({ error }).regex(referencePattern(kind), { error }) as unknown as z.ZodType<Reference<Kind>>;
}
