import { type Cell, type Row, rows } from "./rows.ts";
import { type Subject, subjects } from "./subjects.ts";

const strikes: Readonly<Record<Row["strikes"], string>> = {
  first: "The first request goes wrong",
  each: "Each request of the call goes wrong, look-ups do not",
  all: "Everything goes wrong, look-ups too",
};

const introduction = `# What does the SDK make of each fault?

- What only reads, or can be done twice, is sent again.
- Orders, claims and retractions are looked up first, four times within four seconds, and never made twice. After a response that shows
  that the service is slow (a timeout, 504, 408, a connection that breaks after a while) they are looked for until the service has had
  \`assumptions.processingTime\`, 30 seconds by default.
- A POST by \`request\` is never sent again after its answer was lost: nothing can look it up.
- A 429 is waited for, up to \`retry.maxRetryAfter\`.
- JSON of another shape, a redirect and any other 4xx are final at once.

The tables are made from the fault matrix in \`test/flows/matrix\`, each cell of which is played over a real port and within the process: what the
call gives, how many requests the service has seen in all (look-ups included), and how often the call took effect there.

- **before**, **after**: whether the fault comes before or after the service has carried the request out.
- **value**: the call succeeds. **recovered**: it succeeds by a look-up, instead of by an answer of its own.
- \`OutcomeUnknownError\`: it may or may not have been done, nothing can tell, and nothing more was sent.

\`timeout\` is 300 ms where time is what runs out, and \`retry.retries\` 2. You can play each of these faults [in your own tests](testing.md#lose-an-answer).
`;

const heading = ({ name, repeat }: Subject) => `\`${name}\` (${repeat})`;

function show([outcome, requests, effects]: Cell, { repeat }: Subject): string {
  const name = outcome.endsWith("Error") ? `\`${outcome}\`` : outcome;
  const asked = `${requests} ${requests === 1 ? "request" : "requests"}`;
  return repeat === "safe" ? `${name}, ${asked}` : `${name}, ${asked}, done ${effects}×`;
}

const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function table(wanted: Row["strikes"]): string {
  const lines = rows
    .filter((row) => row.strikes === wanted)
    .map(({ name, cells }) =>
      line([name, ...subjects.map((subject, position) => show(cells[position] ?? ["", 0, 0], subject))]),
    );
  const headings = ["", ...subjects.map(heading)];
  return [`## ${strikes[wanted]}`, "", line(headings), line(headings.map(() => "---")), ...lines, ""].join("\n");
}

/** The matrix as a page for the docs. */
export const page = (): string => [introduction, table("first"), table("each"), table("all")].join("\n");
