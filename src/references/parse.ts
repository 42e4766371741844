import { RequestValidationError } from "../errors/validation.ts";
import { isReference, type Reference, type ReferenceKind, referenceFault, referenceKinds } from "./references.ts";

/**
 * Checks that a text is a reference of the given kind and returns it with that type (specification 2.1). Use it for strings from a
 * database or a form.
 *
 * @throws {@link RequestValidationError} if the text is not a reference of that kind. The message names the kind that it has instead.
 * @example
 * const order = await partner.orders.get(parseReference("Order", row.orderReference));
 */
export function parseReference<Kind extends ReferenceKind>(kind: Kind, text: string): Reference<Kind> {
  if (isReference(kind, text)) return text;
  const kinds: readonly unknown[] = referenceKinds;
  if (!kinds.includes(kind)) {
    const message = `expected one of ${referenceKinds.join(", ")}`;
    throw new RequestValidationError({ issues: [{ path: ["kind"], message }] });
  }
  throw new RequestValidationError({ issues: [{ path: [], message: referenceFault(kind, text) ?? "" }] });
}
