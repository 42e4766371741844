import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as podPartner from "pod-partner";
import * as callbacks from "pod-partner/callbacks";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { errorCodes } from "../../src/errors/api.ts";
import { pages } from "./blocks.ts";
import { root } from "./process.ts";

const read = (page: string): string => readFileSync(join(root, page), "utf8");
const absent = (names: readonly string[], page: string): readonly string[] => {
  const text = read(page);
  return names.filter((name) => !text.includes(name));
};

describe("the pages of the documentation", () => {
  it.each(pages)("%s: every link has a target", (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
      ([, target = ""]) => target,
    );
    expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });

  it.each(pages)("%s: every file that the page names exists", (page) => {
    const files = [...read(page).matchAll(/`((?:src|test|examples|scripts|docs)\/[\w./-]+)`/g)].map(
      ([, file = ""]) => file,
    );
    // The recipe for an endpoint names the files of an example.
    const missing = files.filter((file) => !file.includes("widgets") && !existsSync(join(root, file)));
    expect(missing).toEqual([]);
  });

  it("errors.md lists every known code with its hint", () => {
    const text = read("docs/errors.md");
    const lines = text.split("\n").filter((line) => line.startsWith("| `"));
    const documented = Object.fromEntries(
      lines
        .map((line) => line.split(" | "))
        .map(([code = "", , hint = ""]) => [code.slice(3, -1), hint.replace(/ \|$/, "")]),
    );
    expect(documented).toMatchObject(errorCodes);
  });

  it("errors.md lists every code that only the emulator has", () => {
    const codes = [...read("src/emulator/base/problem.ts").matchAll(/^ {2}(\w+): \d{3},$/gm)].map(
      ([, code = ""]) => code,
    );
    const own = codes.filter((code) => !(code in errorCodes));
    expect(own.length).toBeGreaterThan(10);
    expect(
      absent(
        own.map((code) => `\`${code}\``),
        "docs/errors.md",
      ),
    ).toEqual([]);
  });

  it("`docs` of every error leads to a heading that exists, once", () => {
    const classes = Object.values({ ...podPartner, ...callbacks }).filter(
      (one): one is typeof podPartner.PodPartnerError =>
        one === podPartner.PodPartnerError || Object.prototype.isPrototypeOf.call(podPartner.PodPartnerError, one),
    );
    expect(classes.length).toBeGreaterThan(30);
    // The base class sets `docs` by the class that is made, whatever its constructor takes.
    const made = classes.map(
      (one): podPartner.PodPartnerError => Reflect.construct(podPartner.PodPartnerError, [""], one),
    );
    const places = made.map(({ docs }) => docs);
    const [pages, anchors] = [0, 1].map((part) => places.map((place) => place.split("#")[part]));
    expect(new Set(pages)).toEqual(new Set(["node_modules/pod-partner/docs/errors.md"]));
    const headings = [...read("docs/errors.md").matchAll(/^#+ `(\w+)`$/gm)].map(([, name = ""]) => name.toLowerCase());
    expect(headings.toSorted()).toEqual(anchors?.toSorted());
  });

  it("AGENTS.md is short, and lists every method", () => {
    const text = read("AGENTS.md");
    expect(text.length).toBeLessThan(8_000);
    const listed = [...text.matchAll(/^\| (`[^|]+) \| (`[^|]+) \|$/gm)].flatMap(([, resources = "", methods = ""]) => {
      const namesIn = (cell: string) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
      return namesIn(resources).flatMap((resource) => namesIn(methods).map((method) => `${resource}.${method}`));
    });
    const documented = [...read("docs/endpoints.md").matchAll(/`partner\.([\w.]+)\(/g)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toEqual(
      [...new Set(documented)].filter((name) => !["request", "withOptions"].includes(name)).toSorted(),
    );
  });

  it("testing.md lists every control of the emulator", () => {
    const controls = Object.keys(createEmulator()).filter((name) => !["fetch", "clock"].includes(name));
    expect(
      absent(
        controls.map((name) => `\`${name}`),
        "docs/testing.md",
      ),
    ).toEqual([]);
  });

  it("testing.md lists every export of pod-partner/testing", async () => {
    expect(absent(Object.keys(await import("pod-partner/testing")), "docs/testing.md")).toEqual([]);
  });
});
