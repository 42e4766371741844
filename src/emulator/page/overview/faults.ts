import type { SavedFault } from "../../faults/faults.ts";
import type { FaultView } from "./view.ts";

/** The most characters of a fault's details. */
const longest = 120;

const nthView = (nth: SavedFault["fault"]["nth"]): string | null => {
  if (nth === undefined) return null;
  return typeof nth === "number" ? `request ${nth}` : "some requests";
};

/** The fields of a fault that its kind does not say: `ms 3000`. */
function detailsOf({ on, nth, fault, ...rest }: SavedFault["fault"]): string {
  const fields = Object.entries(rest).map(([name, value]) =>
    typeof value === "object" || typeof value === "string" ? `${name} ${JSON.stringify(value)}` : `${name} ${value}`,
  );
  const text = fields.join(", ");
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** The faults, the latest first. */
export const faultsView = (faults: readonly SavedFault[]): readonly FaultView[] =>
  faults.toReversed().map(({ id, fault, seen, hits }) => ({
    id,
    on: fault.on ?? null,
    nth: nthView(fault.nth),
    kind: fault.fault,
    details: detailsOf(fault),
    isSpent: typeof fault.nth === "number" && seen >= fault.nth,
    hits,
  }));
