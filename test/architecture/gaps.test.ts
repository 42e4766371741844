import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { rows } from "../../src/cli/conform-rows.ts";
import { allControls } from "../../src/emulator/controls/table.ts";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { everyEndpoint } from "../../src/emulator/server/control-plane.ts";
import { type Gap, readGaps } from "../../src/schemas/gaps.ts";

const gaps = readGaps();
const root = new URL("../../", import.meta.url);
const page = new URL("docs/specification-gaps.md", root);
const title = "## All gaps";

const parts: readonly (readonly [name: string, first: number, last: number])[] = [
  ["What the service does", 1, 1],
  ["Resources and fields", 2, 2],
  ["States and transitions", 3, 3],
  ["Endpoints", 4, 4],
  ["Authentication, events", 5, 6],
  ["Errors, limits, versions", 7, 9],
];

const listed = (kind: string, names: readonly string[] = []): readonly string[] =>
  names.length === 0 ? [] : [`${kind} ${names.map((name) => `\`${name}\``).join(", ")}`];

const cell = (text = "", name = "") => (text === "" ? "" : `${name}${text}`);

function row({ number, section, notShown, sdk, override, emulator, options, controls, conform = [] }: Gap): string {
  const changed = [
    ...(override === undefined ? [] : [override]),
    [...listed("option", options), ...listed("control", controls)].join(", "),
  ].filter((text) => text !== "");
  const cells = [number, section, notShown, cell(sdk), cell(emulator), changed.join("; emulator: ")];
  const onlyEmulator = override === undefined && changed.length > 0;
  return `| ${cells.slice(0, 5).join(" | ")} | ${onlyEmulator ? "emulator: " : ""}${cells[5]} | ${conform.map((id) => `\`${id}\``).join(", ")} |`;
}

const partOf = ({ section }: Gap) => Number.parseInt(section, 10);

const generated = parts.map(([name, first, last]) => {
  const rows = gaps.filter((gap) => partOf(gap) >= first && partOf(gap) <= last).map(row);
  return `### ${name}

| No. | Section | Not shown | The SDK assumes | The emulator assumes | You change it by | \`conform\` asks |
|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
});

const introduction = `${title}

The tables are made from \`src/schemas/gaps.json\` (\`npm run gaps\`). On a port, the emulator's \`GET /_emulator/gaps\` returns them as JSON, and \`GET /_emulator/coverage\` what is modelled of each endpoint. An empty field means that nothing is assumed; without a row of \`conform\`, no request can decide it.

`;

/** Each place that the specification marks as 'not shown' and that the service decides, by hand. */
const marked = [
  ["2.3 rule 4", "2.4", "2.6", "2.9", "2.10", "2.11", "3.3", "3.4", "5 rule 7", "6 rule 7", "6 rule 8", "7", "8"],
  [1, 2, 3, 4, 5, 6, 7, 8].map((gap) => `4.12 gap ${gap}`),
].flat();

describe("the gaps of the specification", () => {
  it("have a row for every place that the specification marks as not shown, in both columns", () => {
    for (const column of ["sdk", "emulator"] as const) {
      const sections = new Set(
        gaps.filter((gap) => gap[column] !== undefined).flatMap(({ section }) => section.split(", ")),
      );
      expect(marked.filter((section) => !sections.has(section))).toEqual([]);
    }
  });

  it("have numbers and texts of their own, and files that exist", () => {
    expect(new Set(gaps.map(({ number }) => number)).size).toBe(gaps.length);
    expect(new Set(gaps.map(({ section, notShown }) => section + notShown)).size).toBe(gaps.length);
    expect(gaps.flatMap(({ code = [] }) => code).filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it("name the rows of `conform` that measure them, and every row", () => {
    const named = gaps.flatMap(({ number, conform = [] }) => conform.map((id) => `${number} ${id}`));
    const measured = rows.filter(({ requests, id }) => requests > 0 || named.some((name) => name.endsWith(` ${id}`)));
    expect(measured.filter(({ gap, id }) => !named.includes(`${gap} ${id}`)).map(({ id }) => id)).toEqual([]);
    const ids = new Set(rows.map(({ id }) => id));
    expect(gaps.flatMap(({ conform = [] }) => conform).filter((id) => !ids.has(id))).toEqual([]);
  });

  it("name only controls that exist, and every control that changes what the API responds", () => {
    const rows: readonly Pick<Gap, "controls">[] = [everyEndpoint, ...allRoutes, ...gaps];
    const named = new Set(rows.flatMap(({ controls = [] }) => controls));
    expect([...named].filter((name) => !allControls.has(name))).toEqual([]);
    const whole = new Set(["world", "request"]);
    const others = [...allControls]
      .filter(([name, { on }]) => !named.has(name) && !whole.has(on))
      .map(([name]) => name);
    expect(others).toEqual(["callbacks.list", "callbacks.idle", "clock.set", "clock.freeze", "clock.resume"]);
  });

  it("are docs/specification-gaps.md", async () => {
    const [before = ""] = readFileSync(page, "utf8").split(title);
    await expect(before + introduction + generated.join("\n")).toMatchFileSnapshot(page.pathname);
  });
});
