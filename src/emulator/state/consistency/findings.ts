import type { Issue } from "../../../errors/validation.ts";

type Path = Issue["path"];

/** The most issues that are kept. A world that a script changed can have the same one in each of its records. */
const mostIssues = 1000;

/** Collects what is wrong with a saved world. */
export class Findings {
  readonly issues: Issue[] = [];

  add(path: Path, message: string): void {
    if (this.issues.length < mostIssues) this.issues.push({ path: ["world", ...path], message });
  }
}

/** A list of records that knows them by reference. */
export interface Known {
  get(reference: string): unknown;
}

/** Reports what is wrong with one record. */
export class RecordFindings {
  readonly #findings: Findings;
  readonly #at: Path;
  readonly #reference: string;

  constructor(findings: Findings, at: Path, reference: string) {
    this.#findings = findings;
    this.#at = at;
    this.#reference = reference;
  }

  add(field: Path, message: string): void {
    this.#findings.add([...this.#at, ...field], `${this.#reference} ${message}`);
  }

  /** Reports a reference that a list does not have. A missing reference and null name nothing. */
  names(field: Path, reference: string | null | undefined, list: Known): void {
    if (typeof reference !== "string" || list.get(reference) !== undefined) return;
    this.add(field, `names ${reference}, which the world does not have`);
  }
}
