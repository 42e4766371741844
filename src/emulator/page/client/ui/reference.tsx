import { copy } from "./copy.ts";

/** The start of a reference, which differs from its neighbours'. A press copies the whole. */
export function Reference({ value }: { readonly value: string }) {
  const [kind = "", code = ""] = value.split("_");
  return (
    <button type="button" class="reference" title={`Copy ${value}`} onClick={() => copy(value, value)}>
      <span class="kind">{kind}_</span>
      {code.slice(0, 6)}…
    </button>
  );
}
