import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Idioms of docs/contributing/style.md, each with an example and the words to use instead. */
const idioms: readonly (readonly [idiom: RegExp, example: string, say: string])[] = [
  [/\banswer(s|ed|ing)?\b/i, "The service answers with 503", "response, respond, return"],
  [/\bwhoever\b|\b(some|no)body\b/i, "Whoever logs the client", "the caller, the client, the process"],
  [/\bstrangers?\b|\b(drinks?|drank|drinking)\b/i, "a stranger drinks from the bucket", "other clients, use"],
  [/\blet(s|ting)? (it |them )?go\b/i, "an unread one is let go", "cancel, release, close"],
  [/\b(is|are|was|were|be|been) told\b/i, "hooks are told of each retry", "receive, learn"],
  [/\btell(s|ing)?\b/i, "the headers tell of a token", "report, show, throw"],
  [/\b(that|which) (is|are) none\b|\bnone of which\b/i, "an option that is none", "invalid, unknown; none of these"],
  [/\bis not an option\b/i, "retries: is not an option", "is an unknown option"],
  [/(?<![Tt]here )\b(is|are) no (?!longer|more|other|exception)/, "the body is no JSON", "is not a"],
  [/\bstands? in\b/i, "the name stands in the specification", "is in; replaces"],
  [/(?<!for )\bas long as\b/i, "as long as the call runs", "while, if"],
  [/\bOnly then\b|\bNot before\b|\bNothing but\b|\bbut for\b/, "Only then is it sent", "subject first; only, except"],
  [/\b(all|just) the same\b/i, "it is sent all the same", "anyway"],
  [/\blook(s|ed|ing)? for\b/i, "the SDK looks for the order", "look up, search"],
  [/\bunder way\b/i, "a request is under way", "in flight, in progress"],
  [/\bone more go\b|\bpatiently\b|\bheeds?\b|\bhence\b|\bin vain\b/i, "hence one more go", "retry; obey; so"],
];

/** Finds an idiom also where a line ends within it. `gap` is a space, or the end of a line and the start of the next comment line. */
const gap = String.raw`(?: |\s*\n\s*(?:\*|//|#)?\s*)`;
const wrapped = (idiom: RegExp): RegExp => new RegExp(idiom.source.replaceAll(" ", gap), `g${idiom.flags}`);
const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** The files that list the idioms. */
const lists = new Set(["docs/contributing/style.md", "test/architecture/plain-english.test.ts"]);

const folders = ["src", "test", "docs", "examples"].flatMap((folder) =>
  readdirSync(root + folder, { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
);
const files = [...folders, "README.md", "CHANGELOG.md", "package.json"]
  .filter((path) => /\.(ts|md|json)$/.test(path) && !lists.has(path) && !path.includes("node_modules"))
  .map((path) => ({ path, text: readFileSync(root + path, "utf8") }));

describe("docs, comments, messages and test names", () => {
  it("are in plain English", () => {
    expect(files.length).toBeGreaterThan(250);
    const found = files.flatMap(({ path, text }) =>
      idioms.flatMap(([idiom, , say]) =>
        [...text.matchAll(wrapped(idiom))].map(
          ({ 0: words, index }) => `${path}:${lineOf(text, index)}: "${words}", say: ${say}`,
        ),
      ),
    );
    expect(found).toEqual([]);
  });

  it.each(idioms)("fail this test when they contain %s", (idiom, example) => {
    expect(example).toMatch(wrapped(idiom));
    expect(example.replaceAll(" ", "\n   * ")).toMatch(wrapped(idiom));
  });
});
