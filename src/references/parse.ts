import { RequestValidationError } from "../errors/validation.ts";
import { isReference, type Reference, type ReferenceKind, referenceFault } from "./references.ts";

/**
 * Gives the text back as a reference of the given kind, for strings from a database or a form (specification 2.1).
 *
 * @throws {@link RequestValidationError} when it is no reference of that kind; the message says which kind it is instead.
 * @example
 * const order = await partner.orders.get(parseReference("Order", row.orderReference));
 */
export function parseReference<Kind extends ReferenceKind>(kind: Kind, text: string): Reference<Kind> {
  if (isReference(kind, text)) return text;
  throw new RequestValidationError({ issues: [{ path: [], message: referenceFault(kind, text) ?? "" }] });
}
