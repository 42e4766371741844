import type { LineView } from "../../overview/view.ts";
import { openQuantity } from "./open-quantity.ts";

/** What has happened to a line, in words. */
function progress(line: LineView): string {
  if (openQuantity(line) === line.quantity) return "";
  const parts = [
    ...(line.shipped > 0 ? [`${line.shipped} shipped`] : []),
    ...(line.canceled > 0 ? [`${line.canceled} canceled`] : []),
    ...(openQuantity(line) > 0 ? [`${openQuantity(line)} open`] : []),
  ];
  return parts.join(", ");
}

export function Lines({ lines }: { readonly lines: readonly LineView[] }) {
  return (
    <ol class="lines">
      {lines.map((line) => (
        <li key={line.index}>
          <span class="quantity">{line.quantity} ×</span>
          <span class="product">{line.product}</span>
          <span class="muted">{progress(line)}</span>
        </li>
      ))}
    </ol>
  );
}
