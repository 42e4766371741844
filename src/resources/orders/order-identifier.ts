import type { Issue } from "../../errors/validation.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { check } from "../../schemas/check.ts";
import { filledText } from "../../schemas/shape.ts";
import type { OrderInput } from "./order-input.schema.ts";

/** The identifier that is sent, and its faults. */
interface Identity {
  readonly customIdentifier: string | undefined;
  readonly faults: readonly Issue[];
}

/**
 * Finds the `customIdentifier` that is sent. The option `body` overrides the order's own. An identifier that cannot be looked up is a
 * fault, because the order could then be created twice.
 */
export function identityOf(order: OrderInput, options: RequestOptions | undefined): Identity {
  const path = ["body", "order"];
  const extra: unknown = options?.body?.order;
  if (extra === undefined) return { customIdentifier: order?.customIdentifier, faults: [] };
  if (typeof extra !== "object" || extra === null || Array.isArray(extra)) {
    return {
      customIdentifier: undefined,
      faults: [{ path, message: "expected an object with fields that are added to the order" }],
    };
  }
  const replaced: unknown = Reflect.get(extra, "customIdentifier");
  if (replaced === undefined) return { customIdentifier: order?.customIdentifier, faults: [] };
  const checked = check(filledText, replaced, [...path, "customIdentifier"]);
  if (checked.ok) return { customIdentifier: String(checked.value), faults: [] };
  return { customIdentifier: undefined, faults: checked.issues };
}
