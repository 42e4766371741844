import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allControls } from "../../src/emulator/controls/table.ts";
import type { Switches } from "../../src/emulator/http/route.ts";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { everyEndpoint, type Gap, gaps } from "../../src/emulator/server/gaps.ts";

const root = new URL("../../", import.meta.url);
const page = new URL("docs/specification-gaps.md", root);
const title = "## What the emulator assumes";

const introduction = `${title}

The emulator has to respond where the specification is silent. The real service may differ. The table is generated from the code. On a port, \`GET /_emulator/coverage\` returns it as JSON, and for each endpoint what is modelled and what changes it.

| Section | Not shown | The emulator assumes | You change it by |
|---|---|---|---|
`;

const listed = (kind: string, names: readonly string[] = []): readonly string[] =>
  names.length === 0 ? [] : [`${kind} ${names.map((name) => `\`${name}\``).join(", ")}`];

const switchesOf = ({ options, controls }: Switches): string =>
  [...listed("option", options), ...listed("control", controls)].join("; ");

const row = ({ section, notShown, emulator, ...switches }: Gap): string =>
  `| ${section} | ${notShown} | ${emulator} | ${switchesOf(switches)} |\n`;

/** Each place that the specification marks as 'not shown' and that the service decides, by hand. */
const marked = [
  ["2.3 rule 4", "2.4", "2.6", "2.9", "2.10", "2.11", "3.3", "3.4", "5 rule 7", "6 rule 7", "6 rule 8", "7", "8"],
  [1, 2, 3, 4, 5, 6, 7, 8].map((gap) => `4.12 gap ${gap}`),
].flat();

describe("what the emulator models", () => {
  it("is described for every place that the specification marks as not shown", () => {
    const sections = new Set(gaps.flatMap(({ section }) => section.split(", ")));
    expect(marked.filter((section) => !sections.has(section))).toEqual([]);
  });

  it("names only controls that exist, and every control that changes what the API responds", () => {
    const rows: readonly Switches[] = [everyEndpoint, ...allRoutes, ...gaps];
    const named = new Set(rows.flatMap(({ controls = [] }) => controls));
    expect([...named].filter((name) => !allControls.has(name))).toEqual([]);
    const whole = new Set(["world", "request"]);
    const others = [...allControls]
      .filter(([name, { on }]) => !named.has(name) && !whole.has(on))
      .map(([name]) => name);
    expect(others).toEqual(["callbacks.list", "callbacks.idle", "clock.set", "clock.freeze", "clock.resume"]);
  });

  it("is a part of docs/specification-gaps.md", async () => {
    const [before = ""] = readFileSync(page, "utf8").split(title);
    await expect(before + introduction + gaps.map(row).join("")).toMatchFileSnapshot(page.pathname);
  });
});
