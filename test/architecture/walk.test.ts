import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${root}docs/contributing/walk.md`, "utf8");
const text = page.replace(/^```[\s\S]*?^```$/gm, "").replace(/\s+/g, " ");

const files = [...new Set(text.match(/src\/[\w./-]+\.ts/g))];

/** Each name that the page gives with its file, for example `encode` (`src/http/endpoint/encode.ts`). */
const placed = [...text.matchAll(/`([#\w.]+)`(?: in | \()`(src\/[^`]+)`/g)].map(([, names = "", file = ""]) => ({
  name: names.split(".").at(-1) ?? "",
  file,
}));

/** All other names, such as `Plan` and `#refused`. */
const names = [...text.matchAll(/`(#?[A-Za-z]\w+(?:\.\w+)*)`/g)].flatMap(([, name = ""]) => name.split("."));

const contains = (code: string, name: string): boolean => new RegExp(`(?<![\\w#])${name}\\b`).test(code);
const read = (file: string): string => readFileSync(root + file, "utf8");

describe("the walk through the code", () => {
  it("names only files that exist", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !existsSync(root + file))).toEqual([]);
  });

  it("names functions and classes that its files contain", () => {
    const code = files.map(read).join("\n");
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !contains(code, name))).toEqual([]);
  });

  it("names a function together with the file that contains it", () => {
    expect(placed.length).toBeGreaterThan(10);
    expect(placed.filter(({ name, file }) => !contains(read(file), name))).toEqual([]);
  });
});
