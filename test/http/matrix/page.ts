import { changeSubjects, losses, moveRows } from "./moves.ts";
import { type Cell, type Row, rows } from "./rows.ts";
import { type Subject, subjects } from "./subjects.ts";

const strikes: Readonly<Record<Row["strikes"], string>> = {
  first: "The first request fails",
  each: "Each request of the call fails, its look-ups do not",
  all: "Each request fails, look-ups too",
};

const introduction = `# What does the SDK do after each fault?

[Faults](../faults.md) has the rules. A test (\`test/http/matrix\`) plays each cell of these tables within the process, and faults of the connection and of
the body over each transport, too. A cell shows the result of the call, the number of requests at the service (look-ups included), and how often the call took effect there.

- **before**, **after**: the fault comes before or after the service has processed the request.
- **value**: the call succeeds. **recovered**: it succeeds by a look-up, because its own response was lost.

\`retry.retries\` is 2, and \`timeout\` is 300 ms where a timeout matters.
`;

const heading = ({ name, repeat }: Subject) => `\`${name}\` (${repeat})`;

function show([outcome, requests, effects]: Cell, { repeat }: Subject): string {
  const name = outcome.endsWith("Error") ? `\`${outcome}\`` : outcome;
  const sent = `${requests} ${requests === 1 ? "request" : "requests"}`;
  return repeat === "safe" ? `${name}, ${sent}` : `${name}, ${sent}, done ${effects}×`;
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

const moving = `## The order moves between two attempts

The response to the first request is lost, something happens to the order, and the SDK sends the request again. The service may refuse what it
has already done, so a refusal is no answer then: the SDK reads the order, for as long as the service may be working on the first request.
Each row holds for each kind of loss: ${losses.map(({ name }) => name).join(", ")}. The order has four units. A cell shows the result of the call,
and at the end the canceled units or the address of the order.

- **recovered**: the repeated request was refused, and the order shows that the first one was carried out.
- \`ConflictError\`: the order shows that the call has changed nothing.
- \`OutcomeUnknownError\`: the order looks the same in both cases. For an address this includes the case that it is still the old one: the
  service may write an address differently, and another client may have replaced it.
`;

function moveTable(): string {
  const lines = moveRows.map(({ move, carriedOut, cells }) => {
    const shown = cells.map(([outcome, end]) => {
      const name = outcome.endsWith("Error") ? `\`${outcome}\`` : outcome;
      return `${name}, ${typeof end === "number" ? `${end} canceled` : end}`;
    });
    return line([move.name, carriedOut ? "yes" : "no", ...shown]);
  });
  const headings = ["Meanwhile", "Carried out", ...changeSubjects.map(({ name }) => name.replace(/^[\w.]+/, "`$&`"))];
  return [moving, line(headings), line(headings.map(() => "---")), ...lines, ""].join("\n");
}

/** The matrix as a page for the docs. */
export const page = (): string => [introduction, table("first"), table("each"), table("all"), moveTable()].join("\n");
