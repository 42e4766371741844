import { describe, expect, it } from "vitest";
import { changeSubjects, losses, moveRows, playMove } from "./matrix/moves.ts";
import { page } from "./matrix/page.ts";
import { rows } from "./matrix/rows.ts";
import { doors, playFault } from "./matrix/run.ts";
import { subjects } from "./matrix/subjects.ts";

/** Faults of the connection, and of a body where a transport reads it. Each transport is tested with them. */
const transported = ["drop", "gateway", "slow", "stall", "trickle", "truncate", "redirect"];
/** The others differ by a status or by the text of a body, which are the same in the process: one of each kind stands for them. */
const representatives = [
  "503 after",
  "429, `Retry-After` beyond `maxRetryAfter`",
  "200 with invalid JSON after",
  "200 without a body after",
];
/** They arrive like 307 and 308, and what follows is the same in the process. */
const followed = /^30[123] /;
const overTransports = rows.filter(
  ({ name, fault }) => (transported.includes(fault.fault) && !followed.test(name)) || representatives.includes(name),
);

describe.each(Object.keys(doors))("%s: every fault has the one right outcome", (door) => {
  describe.each(door === "in the process" ? rows : overTransports)("$name", (row) => {
    it.each(subjects.map(({ name }, position) => ({ name, position })))("$name", async ({ position }) => {
      const subject = subjects[position];
      if (subject === undefined) throw new Error(`There is no subject ${position}`);
      expect(await playFault(door, row, subject)).toEqual(row.cells[position]);
    });
  });
});

describe.each(losses)("a change whose first response is lost by $name, while the order moves", (loss) => {
  describe.each(moveRows)("$move.name, carried out: $carriedOut", (row) => {
    it.each(changeSubjects.map((subject, position) => ({ ...subject, position })))("$name", async (subject) => {
      expect(await playMove(loss, row, subject)).toEqual(row.cells[subject.position]);
    });
  });
});

describe("the matrix", () => {
  it("has no row in which a change that was made is reported as refused, or one that was not as made", () => {
    const untrue = moveRows.filter(({ carriedOut, cells: [cancel, , replace] }) =>
      [cancel, replace].some(
        ([outcome, shown]) =>
          (outcome === "ConflictError" && (carriedOut || shown !== 0)) ||
          (["value", "recovered"].includes(outcome) && shown !== 2 && shown !== "new address"),
      ),
    );
    expect(untrue).toEqual([]);
  });

  it("has no row in which something is created twice", () => {
    const twice = rows.filter(({ cells }) => cells.some(([, , effects]) => effects > 1));
    expect(twice.map(({ name }) => name)).toEqual([]);
  });

  it("is in the docs: `npx vitest run test/http/fault-matrix.test.ts -u` updates them", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/contributing/fault-matrix.md");
  });
});
