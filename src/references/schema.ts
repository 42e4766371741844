import * as z from "zod/mini";
import { type Reference, type ReferenceKind, referenceFault, referencePattern } from "./references.ts";

/** Builds the zod schema of a reference of one kind. */
export function reference<Kind extends ReferenceKind>(kind: Kind): z.ZodMiniType<Reference<Kind>>;
export function reference(kind: ReferenceKind): z.ZodMiniType {
  const error = ({ input }: { input?: unknown }) => referenceFault(kind, input);
  return z.string({ error }).check(z.regex(referencePattern(kind), { error }));
}
