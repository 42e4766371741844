import type { Issue } from "../../errors/validation.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { check } from "../../schemas/check.ts";
import { filledText } from "../../schemas/shape.ts";
import type { OrderInput } from "./order-input.schema.ts";

/** The identifier that goes over the wire, and what is wrong with it. */
interface Identity {
  readonly customIdentifier: string | undefined;
  readonly faults: readonly Issue[];
}

/**
 * Finds the identifier that an order goes by: the option `body` has the last word on what is sent. One that could not be looked
 * up is a fault, since the order could be made twice then.
 */
export function identityOf(order: OrderInput, options: RequestOptions | undefined): Identity {
  const path = ["body", "order"];
  const extra: unknown = options?.body?.order;
  if (extra === undefined) return { customIdentifier: order?.customIdentifier, faults: [] };
  if (typeof extra !== "object" || extra === null || Array.isArray(extra)) {
    return { customIdentifier: undefined, faults: [{ path, message: "expected an object: it is added to the order" }] };
  }
  const replaced: unknown = Reflect.get(extra, "customIdentifier");
  if (replaced === undefined) return { customIdentifier: order?.customIdentifier, faults: [] };
  const checked = check(filledText, replaced, [...path, "customIdentifier"]);
  if (checked.ok) return { customIdentifier: String(checked.value), faults: [] };
  return { customIdentifier: undefined, faults: checked.issues };
}
