import type { ComparedLine } from "../../errors/order-mismatch.ts";

const lineKey = ({ productReference, imageReference, quantity }: ComparedLine): string =>
  JSON.stringify([productReference, imageReference ?? null, quantity]);

const keysOf = (lines: readonly ComparedLine[]): string => lines.map(lineKey).sort().join();

/** Whether two orders have the same lines (product, image and quantity), in any sequence. */
export const haveSameLines = (left: readonly ComparedLine[], right: readonly ComparedLine[]): boolean =>
  keysOf(left) === keysOf(right);
