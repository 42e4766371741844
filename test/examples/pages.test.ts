import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as podPartner from "pod-partner";
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

  it("errors.md lists every class of error", () => {
    const classes = Object.keys(podPartner).filter((name) => name.endsWith("Error"));
    expect(absent(classes, "docs/errors.md")).toEqual([]);
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
