import { escaped, htmlPage } from "./report-page.ts";
import { counted } from "./terminal.ts";
import type { FaultRow } from "./verify-catalogue.ts";
import type { VerifyFinding } from "./verify-compare.ts";

/** What came of a row. */
export interface RowOutcome {
  readonly row: FaultRow;
  readonly status: "passed" | "failed" | "skipped";
  /** What it needs, if it was skipped. */
  readonly reason?: string;
  readonly findings: readonly VerifyFinding[];
  /** Milliseconds; 0 if it was skipped. */
  readonly took: number;
  readonly requests: number;
  /** The last lines that the program printed. */
  readonly output: string;
}

/** The results of all rows. */
export interface VerifyReport {
  readonly version: string;
  /** The command of the program. */
  readonly program: string;
  readonly seed: number;
  /** What the program made without a fault. */
  readonly orders: number;
  readonly claims: number;
  readonly requests: number;
  /** The number of rows to run. */
  readonly planned: number;
  /** Of the rows that have ended; only of the run without a fault, if it fails. */
  readonly outcomes: readonly RowOutcome[];
  /** Milliseconds. */
  readonly took: number;
}

export const pageOf = ({ page }: FaultRow): string => `node_modules/pod-partner/docs/${page}`;

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

export const failedOf = ({ outcomes }: VerifyReport): readonly RowOutcome[] =>
  outcomes.filter(({ status }) => status === "failed");

/** Whether the run was ended before all rows were done. */
const isInterrupted = ({ outcomes, planned }: VerifyReport): boolean => outcomes.length < planned;

/** The report as JSON. */
export const toJson = (report: VerifyReport): string =>
  JSON.stringify(
    {
      ok: failedOf(report).length === 0 && !isInterrupted(report),
      ...report,
      took: Math.round(report.took),
      outcomes: report.outcomes.map(({ row, status, reason, findings, took, requests, output }) => ({
        id: row.id,
        name: row.name,
        status,
        reason,
        findings,
        page: pageOf(row),
        took: Math.round(took),
        requests,
        ...(status === "failed" && { output }),
      })),
    },
    null,
    2,
  );

/** The report as JUnit's XML, for the test reports of CI. */
export function toJunit(report: VerifyReport): string {
  const cases = report.outcomes.map(({ row, status, reason = "", findings, took, output }) => {
    const inside =
      status === "skipped"
        ? `<skipped message="${escaped(reason)}"/>`
        : findings
            .map(({ kind, text }) => `<failure type="${kind}" message="${escaped(text)}">${escaped(output)}</failure>`)
            .join("");
    return `  <testcase classname="pod-partner verify" name="${row.id}: ${escaped(row.name)}" time="${seconds(took)}">${inside}</testcase>`;
  });
  const count = (status: RowOutcome["status"]) => report.outcomes.filter((outcome) => outcome.status === status).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="pod-partner verify" tests="${report.outcomes.length}" failures="${count("failed")}" skipped="${count("skipped")}" time="${seconds(report.took)}">
${cases.join("\n")}
</testsuite>
`;
}

const signs = { passed: "✓", failed: "✗", skipped: "–" } as const;

const style = `
  table { border-collapse: collapse; width: 100%; margin: 1.5rem 0 0; background: var(--surface) }
  table, pre { border: 1px solid var(--line); border-radius: 8px }
  td { border-top: 1px solid var(--line); padding: .55rem .8rem; vertical-align: top }
  tr:first-child td { border-top: 0 }
  td:first-child { width: 1.4rem; font-weight: 600 }
  td:nth-child(n + 3) { text-align: right; white-space: nowrap; color: var(--muted); font-variant-numeric: tabular-nums }
  .passed td:first-child { color: var(--good) }
  .failed td:first-child, .failed li { color: var(--bad) }
  .failed td:nth-child(2) { font-weight: 600 }
  .failed ul, .failed p, .failed details { font-weight: 400; margin: .3rem 0; padding-left: 0; list-style: none }
  .skipped { color: var(--muted) }
  pre { overflow-x: auto; padding: .8rem; font: 12.5px/1.5 var(--mono); background: var(--sunken) }`;

/** The report as one HTML page. */
export function toHtml(report: VerifyReport): string {
  const rows = report.outcomes.map(({ row, status, reason, findings, took, requests, output }) => {
    const list = findings.map(({ text }) => `<li>${escaped(text)}</li>`).join("");
    const detail =
      status === "failed"
        ? `<ul>${list}</ul><p>Read <code>${escaped(pageOf(row))}</code></p><details><summary>What the program printed</summary><pre>${escaped(output)}</pre></details>`
        : "";
    const numbers = status === "skipped" ? ["", ""] : [String(requests), `${seconds(took)} s`];
    return `<tr class="${status}"><td>${signs[status]}</td><td>${escaped(reason === undefined ? row.name : `${row.name} (${reason})`)}${detail}</td><td>${numbers.join("</td><td>")}</td></tr>`;
  });
  const failed = failedOf(report).length;
  const verdict = failed === 0 ? "It survives" : failed === 1 ? "One thing breaks it" : `${failed} things break it`;
  const title = isInterrupted(report) ? `${report.outcomes.length} of ${report.planned} rows` : verdict;
  return htmlPage(
    "verify",
    title,
    style,
    `<p class="facts"><code>${escaped(report.program)}</code> made ${counted(report.orders, "order")} and ${counted(report.claims, "claim")} in ${counted(report.requests, "request")}.
${counted(report.outcomes.length, "row")} in ${seconds(report.took)} s, pod-partner ${escaped(report.version)}, seed ${report.seed}.</p>
<table>
<tr><td></td><td></td><td>requests</td><td>time</td></tr>
${rows.join("\n")}
</table>`,
  );
}
