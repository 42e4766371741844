import type { ReferenceKind } from "../../../references/references.ts";
import type { ReferenceMaker } from "../../core/reference-maker.ts";
import type { SavedOrganization, SavedWorld } from "../saved-world.ts";
import type { Findings } from "./findings.ts";

type References = readonly { readonly reference: string }[];

/** The records of each kind whose references are numbered. */
const numbered: readonly (readonly [ReferenceKind, (organization: SavedOrganization) => References])[] = [
  ["Address", ({ addresses }) => addresses],
  ["Evidence", ({ evidence }) => evidence],
  ["Order", ({ orders }) => orders],
  ["Shipment", ({ shipments }) => shipments],
  ["Claim", ({ claims }) => claims],
];

/** Checks that the next reference of each kind is new. References of another seed have no number, and are never repeated. */
export function checkCounters(
  { organizations, references }: SavedWorld,
  make: ReferenceMaker,
  findings: Findings,
): void {
  for (const [kind, recordsOf] of numbered) {
    const counted = references[kind] ?? 0;
    let highest = 0;
    for (const organization of organizations) {
      for (const { reference } of recordsOf(organization)) {
        highest = Math.max(highest, make.numberOf(kind, reference) ?? 0);
      }
    }
    if (highest > counted) {
      findings.add(["references", kind], `is ${counted}, but the world has reference number ${highest} of this kind`);
    }
  }
}
