import { type Gap, readGaps } from "../schemas/gaps.ts";
import { isRecord } from "../util/foreign.ts";
import { type ConformFinding, type ConformReport, isAsAssumed, isMissing, type Verdict } from "./conform-run.ts";
import { escaped, htmlPage } from "./report-page.ts";
import { counted } from "./terminal.ts";

const page = "node_modules/pod-partner/docs/conform.md";

/** A value in words: `code: received`. */
export function shown(value: unknown): string {
  if (value === null) return "the body itself";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(shown).join(", ");
  if (!isRecord(value)) return String(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return "none";
  return entries.map(([name, inner]) => `${name}: ${shown(inner)}`).join("; ");
}

/** What was measured and what was expected, in words: of objects only the fields that differ. */
export function comparedOf({ value, expected }: ConformFinding): { readonly is: string; readonly was: string } {
  if (!isRecord(value) || !isRecord(expected)) return { is: shown(value), was: shown(expected) };
  const names = Object.keys(value).filter((name) => shown(value[name]) !== shown(expected[name]));
  const of = (record: Readonly<Record<string, unknown>>) =>
    shown(Object.fromEntries(names.flatMap((name) => (Object.hasOwn(record, name) ? [[name, record[name]]] : []))));
  return names.length === 0 ? { is: shown(value), was: shown(expected) } : { is: of(value), was: of(expected) };
}

export const countOf = ({ findings }: Pick<ConformReport, "findings">, wanted: Verdict): number =>
  findings.filter(({ verdict }) => verdict === wanted).length;

/** What follows for a program. */
export function consequenceOf({ verdict, follows, inFile, row }: ConformFinding): string {
  if (verdict === "as assumed" || verdict === "not tried") return "";
  if (verdict === "measured") return follows ?? "";
  const since = inFile ? "It has changed since the file was written. " : "";
  return `${since}${follows ?? `See gap ${row.gap}.`}`;
}

/** The report as JSON. */
export const toJson = (report: ConformReport): string =>
  JSON.stringify(
    {
      ok: isAsAssumed(report) && !report.interrupted && report.failure === undefined,
      ...report,
      took: Math.round(report.took),
      findings: report.findings.map((finding) => {
        const { row, verdict, value, expected, inFile, reason } = finding;
        const consequence = consequenceOf(finding);
        return {
          id: row.id,
          gap: row.gap,
          title: row.title,
          verdict,
          ...(value !== undefined && { value }),
          expected,
          inFile,
          overrides: finding.overrides,
          ...(reason !== undefined && { reason }),
          ...(consequence !== "" && { follows: consequence }),
        };
      }),
    },
    null,
    2,
  );

/** The report as JUnit's XML, for the test reports of CI. */
export function toJunit(report: ConformReport): string {
  const cases = report.findings.map((finding) => {
    const { row, verdict, reason = "" } = finding;
    const { is, was } = comparedOf(finding);
    const inside = isMissing(finding)
      ? `<error message="${escaped(reason)}"/>`
      : verdict === "not tried"
        ? `<skipped message="${escaped(reason)}"/>`
        : verdict === "differs"
          ? `<failure type="differs" message="${escaped(`expected ${was}, measured ${is}`)}">${escaped(consequenceOf(finding))}</failure>`
          : "";
    return `  <testcase classname="pod-partner conform" name="${row.id}: ${escaped(row.title)}">${inside}</testcase>`;
  });
  const missing = report.findings.filter(isMissing).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="pod-partner conform" tests="${report.findings.length}" failures="${countOf(report, "differs")}" errors="${missing}" skipped="${countOf(report, "not tried") - missing}" time="${(report.took / 1_000).toFixed(1)}">
${cases.join("\n")}
</testsuite>
`;
}

/** Escapes a text, and sets what is between backticks as code. */
const marked = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

const sections: readonly (readonly [verdict: Verdict, title: string, about: string])[] = [
  ["differs", "Differs", "The client needs to know: use the file, or change your code."],
  ["measured", "Measured", "The service does otherwise than the emulator assumed. The client does not depend on it."],
  ["not tried", "Not tried", "What this run could not ask."],
  ["as assumed", "As assumed", "Nothing to do."],
];

const classOf = (verdict: Verdict): string => verdict.replace(" ", "-");

function entryOf(finding: ConformFinding, gaps: readonly Gap[]): string {
  const { row, verdict, value, reason, inFile, overrides } = finding;
  if (verdict === "as assumed") {
    return `<li class="as-assumed"><span>${marked(row.title)} <small>gap ${row.gap}</small></span><span>${marked(shown(value))}</span></li>`;
  }
  const gap = gaps.find(({ number }) => number === row.gap);
  const consequence = consequenceOf(finding);
  const { is, was } = comparedOf(finding);
  const facts =
    verdict === "not tried"
      ? `<dt>Why</dt><dd>${marked(reason ?? "")}</dd>`
      : `<dt>${inFile ? "Before" : "Assumed"}</dt><dd>${marked(was)}</dd><dt>Is</dt><dd class="is">${marked(is)}</dd>`;
  return `<li class="${classOf(verdict)}">
<h3>${marked(row.title)}</h3>
<p class="gap">Gap ${row.gap}, section ${escaped(gap?.section ?? "")}: ${marked(gap?.notShown ?? "")}</p>
<dl>${facts}${consequence === "" ? "" : `<dt>So</dt><dd>${marked(consequence)}</dd>`}${overrides.length === 0 ? "" : `<dt>In the file</dt><dd>${overrides.map((name) => `<code>${escaped(name)}</code>`).join(", ")}</dd>`}</dl>
</li>`;
}

const style = `
  h2 { font-size: 1.05rem; margin: 2.25rem 0 0 }
  h3 { font-size: 1rem; font-weight: 600; margin: 0 }
  .about, .gap { color: var(--muted); margin: 0 }
  .gap { font-size: 12.5px }
  .cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 1.5rem 0 0 }
  .card { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; text-decoration: none; color: var(--muted) }
  .card b { display: block; font-size: 1.7rem; line-height: 1.2; font-weight: 600; color: var(--text); font-variant-numeric: tabular-nums }
  .card.differs b { color: var(--bad) } .card.measured b { color: var(--accent) } .card.as-assumed b { color: var(--good) }
  .rows { list-style: none; margin: .75rem 0 0; padding: 0; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
  .rows li { padding: .8rem 1rem; border-left: 3px solid transparent }
  .rows li + li { border-top: 1px solid var(--line) }
  .rows li.differs { border-left-color: var(--bad) } .rows li.measured { border-left-color: var(--accent) }
  dl { display: grid; grid-template-columns: 6rem 1fr; gap: .15rem .75rem; margin: .45rem 0 0 }
  dt { color: var(--muted) }
  dd { margin: 0; overflow-wrap: anywhere }
  .differs .is { color: var(--bad); font-weight: 600 } .measured .is { font-weight: 600 }
  .rows li.as-assumed { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .45rem 1rem; overflow-wrap: anywhere }
  .as-assumed span + span, .as-assumed small { color: var(--muted) } .as-assumed small { white-space: nowrap }
  .left { margin: .5rem 0 0; padding-left: 1.1rem; color: var(--muted) }
  .left li { overflow-wrap: anywhere }
  @media (max-width: 40rem) {
    .cards { grid-template-columns: repeat(2, 1fr) }
    dl, .rows li.as-assumed { grid-template-columns: 1fr; gap: 0 }
    dt { font-size: 12.5px; margin-top: .3rem }
  }`;

/** The report as one HTML page. */
export function toHtml(report: ConformReport): string {
  const { baseUrl, date, requests, orders, left, interrupted, failure, took, version } = report;
  const differing = countOf(report, "differs");
  const asAssumed = report.findings.some(isMissing) ? "The look-up was not tried" : "The service is as assumed";
  const verdict = differing === 0 ? asAssumed : `${counted(differing, "difference")} from what is assumed`;
  const title = interrupted || failure !== undefined ? "Ended before all was measured" : verdict;
  const cards = sections.map(
    ([name, label]) =>
      `<a class="card ${classOf(name)}" href="#${classOf(name)}"><b>${countOf(report, name)}</b><span>${label.toLowerCase()}</span></a>`,
  );
  const gaps = readGaps();
  const lists = sections
    .filter(([name]) => countOf(report, name) > 0)
    .map(([name, label, about]) => {
      const entries = report.findings
        .filter(({ verdict }) => verdict === name)
        .map((finding) => entryOf(finding, gaps));
      return `<section id="${classOf(name)}"><h2>${label}</h2><p class="about">${about}</p><ul class="rows">${entries.join("\n")}</ul></section>`;
    });
  const remains = left.map((text) => `<li>${marked(text)}</li>`).join("");
  return htmlPage(
    "conform",
    title,
    style,
    `<p class="facts"><code>${escaped(baseUrl)}</code>, measured on ${escaped(date.slice(0, 16).replace("T", " "))} UTC by pod-partner ${escaped(version)}:
${counted(report.findings.length, "row")}, ${counted(requests, "request")}, ${counted(orders, "order")}, ${(took / 1_000).toFixed(0)} s.${failure === undefined ? "" : ` ${escaped(failure)}`}</p>
<div class="cards">${cards.join("")}</div>
${lists.join("\n")}
<section><h2>What is left behind</h2><ul class="left">${remains === "" ? "<li>nothing</li>" : remains}</ul></section>
<section><h2>How to go on</h2><p class="about">Give the file to the client, the emulator and verify with <code>POD_PARTNER_ASSUMPTIONS</code>, and run <code>pod-partner conform --compare</code> with it each night: <code>${page}</code>.</p></section>`,
  );
}
