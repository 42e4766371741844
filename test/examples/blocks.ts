import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setUpOf } from "../../docs/.vitepress/set-up.ts";
import { root } from "./process.ts";

/** TypeScript of a page, below the set-up if the page goes on from it. */
export interface Program {
  readonly page: string;
  readonly name: string;
  readonly code: string;
  /** How many lines stand above those of the page. */
  readonly above: number;
}

interface Block {
  /** Whether the block is separate from the page's program: it needs other packages, and is not run. */
  readonly separate: boolean;
  readonly from: number;
  readonly to: number;
}

const read = (page: string): string => readFileSync(join(root, page), "utf8");

const blocksOf = (page: string): readonly Block[] =>
  [...read(page).matchAll(/^```(?:ts|js)( separate)?\n([\s\S]*?)^```$/gm)].map(({ 0: text, 1: separate, index }) => {
    const from = read(page).slice(0, index).split("\n").length;
    return { separate: separate !== undefined, from, to: from + text.split("\n").length - 1 };
  });

/** The program of a page's blocks, each at the lines that it has there: all other lines are empty. A separate block has no set-up. */
function program(page: string, name: string, blocks: readonly Block[]): Program {
  const within = (line: number) => blocks.some(({ from, to }) => line >= from && line < to - 1);
  const before = blocks.some(({ separate }) => separate) ? "" : setUpOf(page, read(page), root);
  const code = read(page)
    .split("\n")
    .map((text, line) => (within(line) ? text : ""))
    .join("\n");
  const above = before.split("\n").length - 1;
  return { page, name: `${page.replaceAll("/", "-")}${name}.mts`, code: before + code, above };
}

/** README.md and every page of `docs`. */
export const pages: readonly string[] = [
  "README.md",
  // Without the folder in which the site is built, maybe at the same time.
  ...globSync("docs/**/*.md", { cwd: root, exclude: ["docs/.vitepress"] }).sort(),
];

/** The program of each page: its blocks, one after the other. */
export const pagePrograms: readonly Program[] = pages.flatMap((page) => {
  const blocks = blocksOf(page).filter(({ separate }) => !separate);
  return blocks.length === 0 ? [] : [program(page, "", blocks)];
});

/** What a reader can paste without the rest of the page: the first block with one other block, or a separate block. */
export const blockPrograms: readonly Program[] = pages.flatMap((page) => {
  const [preamble, ...others] = blocksOf(page).filter(({ separate }) => !separate);
  const apart = blocksOf(page).filter(({ separate }) => separate);
  return [
    ...others.map((block) => program(page, `-${block.from}`, preamble === undefined ? [block] : [preamble, block])),
    ...apart.map((block) => program(page, `-${block.from}`, [block])),
  ];
});

/** The code of the block of docs/testing.md for a test runner. */
export const testFor = (runner: "vitest" | "jest"): string =>
  read("docs/testing.md").split(`\`\`\`js ${runner}\n`)[1]?.split("```")[0] ?? "";

/** The fences of a page with code in another language than these, or with a wrong tag. A `js` block is TypeScript without types: it runs everywhere. */
export const uncheckedFences = (page: string): readonly string[] =>
  [...read(page).matchAll(/^```(.+)$/gm)]
    .map(([, language = ""]) => language)
    .filter(
      (language) =>
        !["js", "js separate", "ts", "ts separate", "js vitest", "js jest", "sh", "mermaid", "text"].includes(language),
    )
    .map((language) => `${page}: ${language}`);
