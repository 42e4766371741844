import { describe, expect, it } from "vitest";
import { page } from "./matrix/page.ts";
import { rows } from "./matrix/rows.ts";
import { playFault, transports } from "./matrix/run.ts";
import { subjects } from "./matrix/subjects.ts";

describe.each(Object.keys(transports) as (keyof typeof transports)[])(
  "%s: every fault has the one right outcome",
  (door) => {
    describe.each(rows)("$name", (row) => {
      it.each(subjects.map(({ name }, position) => ({ name, position })))("$name", async ({ position }) => {
        const subject = subjects[position];
        if (subject === undefined) throw new Error(`There is no subject ${position}`);
        expect(await playFault(door, row, subject)).toEqual(row.cells[position]);
      });
    });
  },
);

describe("the matrix", () => {
  it("has no row in which something is created twice", () => {
    const twice = rows.filter(({ cells }) => cells.some(([, , effects]) => effects > 1));
    expect(twice.map(({ name }) => name)).toEqual([]);
  });

  it("is in the docs: `npx vitest run test/flows/fault-matrix.test.ts -u` updates them", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/faults.md");
  });
});
