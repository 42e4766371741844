import type { Listed } from "../../overview/view.ts";
import { count } from "./format.ts";

/** How many older records the list leaves out. */
export function More({ list, noun }: { readonly list: Listed<unknown>; readonly noun: string }) {
  const rest = list.total - list.items.length;
  if (rest === 0) return null;
  return (
    <p class="more">
      {count(rest)} older {noun} not shown
    </p>
  );
}
