import type { SavedOrganization } from "../saved-world.ts";
import type { World } from "../world.ts";
import { type Findings, RecordFindings } from "./findings.ts";

type RecordList = "addresses" | "evidence" | "renders" | "orders" | "shipments" | "claims" | "keys";

/** An organization of a saved world, with what its records refer to. */
export class CheckedOrganization {
  readonly saved: SavedOrganization;
  /** The same records by reference, and the catalog. */
  readonly world: World;
  readonly #findings: Findings;
  readonly #at: readonly (string | number)[];

  constructor(saved: SavedOrganization, world: World, position: number, findings: Findings) {
    this.saved = saved;
    this.world = world;
    this.#findings = findings;
    this.#at = ["organizations", position];
  }

  add(field: readonly (string | number)[], message: string): void {
    this.#findings.add([...this.#at, ...field], message);
  }

  /** Checks each record of a list. */
  each<List extends RecordList>(
    list: List,
    check: (record: SavedOrganization[List][number], findings: RecordFindings) => void,
  ): void {
    const records: readonly SavedOrganization[List][number][] = this.saved[list];
    for (const [position, record] of records.entries()) {
      check(record, new RecordFindings(this.#findings, [...this.#at, list, position], record.reference));
    }
  }
}
