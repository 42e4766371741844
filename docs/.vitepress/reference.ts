/** Makes the pages that typedoc wrote easier to read. `npm run site:reference` runs it after typedoc, once. */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "site/reference");
const main = join(folder, "pod-partner");

/** The guides of a resource, by its class. */
const guides: Readonly<Record<string, string>> = {
  PodPartner: "options",
  CatalogResource: "catalog-sync",
  ProductsResource: "catalog-sync",
  ItemsResource: "catalog-sync",
  ImagesResource: "uploads-and-downloads",
  EvidenceResource: "uploads-and-downloads",
  CompositionsResource: "renders",
  RendersResource: "renders",
  RendertokensResource: "renders",
  ScenesResource: "renders",
  PerspectivesResource: "renders",
  OrdersResource: "orders",
  ShipmentsResource: "tracking",
  ClaimsResource: "claims",
  Paginator: "pagination",
};

const title = (page: string): string =>
  /^# (.+)/.exec(readFileSync(join(root, "docs", `${page}.md`), "utf8"))?.[1] ?? page;

/** The page of a class or an interface of the main entry point. */
const pageOf = (name: string): string | undefined =>
  ["classes", "interfaces"].map((kind) => join(main, kind, `${name}.md`)).find((path) => existsSync(path));

const linkFrom = (file: string, to: string): string => relative(dirname(file), to);

/** The types of references: `OrderReference`. */
const referenceTypes = (): ReadonlySet<string> =>
  new Set(readFileSync(join(main, "index.md"), "utf8").match(/(?<=^### )\w+Reference$/gm));

/** Names the type of a reference instead of its pattern. A pattern with a type parameter has no name. */
export const withNames = (text: string, index: string, names: ReadonlySet<string>): string =>
  text.replace(/`` `(\w+)_\$\{string\}` ``/g, (pattern, kind: string) => {
    const name = `${kind}Reference`;
    return names.has(name) ? `[\`${name}\`](${index}#${name.toLowerCase()})` : pattern;
  });

/** Joins the errors of a method in one table. */
export function withErrorTable(text: string, linkOf: (error: string) => string | undefined): string {
  const one = "(#{3,6}) Throws\\n\\n((?:(?!#{3,6} |\\*\\*\\*).+\\n+)+)";
  return text.replace(new RegExp(`(?:${one})+`, "g"), (all) => {
    const blocks = [...all.matchAll(new RegExp(one, "g"))];
    const sentences = blocks.map(([, , sentence = ""]) => sentence.replace(/\s+/g, " ").trim());
    const rows = sentences.map((sentence) => {
      const [, error = "", when = ""] = /^`(\w+)` ?(.*)$/.exec(sentence) ?? [];
      const link = error && linkOf(error);
      const name = link ? `[\`${error}\`](${link})` : error && `\`${error}\``;
      return `| ${name} | ${(error ? when : sentence).replaceAll("|", "\\|")} |`;
    });
    const [[, level = "####"] = []] = blocks;
    return [`${level} Errors`, "", "| Error | When |", "| ------ | ------ |", ...rows, "", ""].join("\n");
  });
}

/** What a parameter is that has no words of its own. */
function wordsOf(name: string, type: string): string {
  const [, kind] = /^\[`(\w+)Reference`\]/.exec(type) ?? [];
  if (kind !== undefined) return `The reference of the ${kind.toLowerCase()}.`;
  if (name === "options?" || name === "options")
    return "Its options, and those of the request. Default: those of the client.";
  if (name.endsWith("?")) return "Optional.";
  return "";
}

/** Gives each table of parameters a column with words. */
export const withWords = (text: string): string =>
  text.replace(/\| Parameter \| Type \|\n\| -+ \| -+ \|\n((?:\|.*\|\n)+)/g, (_, rows: string) => {
    const described = rows
      .trim()
      .split("\n")
      .map((row) => {
        const [, name = "", type = ""] = /^\| `(.+?)` \| (.*) \|$/.exec(row) ?? [];
        return `${row} ${wordsOf(name, type)} |`;
      });
    return ["| Parameter | Type | Description |", "| ------ | ------ | ------ |", ...described, ""].join("\n");
  });

/** The client and its resources, before everything else of the entry point. */
function clientTable(index: string): string {
  const fields = (name: string, before: string): string[] => {
    const page = pageOf(name);
    if (page === undefined) return [];
    const text = readFileSync(page, "utf8");
    return [...text.matchAll(/\*\*(\w+)\*\*: \[`(\w+Resource)`\]\(\S+?\)[^\n]*\n\n([^\n]+)/g)].flatMap(
      ([, field = "", type = "", words = ""]) => [
        `| [\`partner.${before}${field}\`](${linkFrom(index, pageOf(type) ?? page)}) | ${words} |`,
        ...fields(type, `${before}${field}.`),
      ],
    );
  };
  const rows = ["PodPartner", "PodPartnerOptions", "RequestOptions"].flatMap((name) => {
    const page = pageOf(name);
    const words = page && /^# .+\n\n([^\n]+)/.exec(readFileSync(page, "utf8"))?.[1];
    return page === undefined ? [] : [`| [\`${name}\`](${linkFrom(index, page)}) | ${words} |`];
  });
  return [
    "## The client",
    "",
    "| Name | What it is |",
    "| ------ | ------ |",
    ...rows,
    ...fields("PodPartner", ""),
    "",
    "",
  ].join("\n");
}

function improve(file: string, names: ReadonlySet<string>): void {
  const index = join(main, "index.md");
  const name = basename(file, ".md");
  const linkOf = (error: string) => {
    const page = pageOf(error);
    return page === undefined ? undefined : linkFrom(file, page);
  };
  let text = withWords(
    withErrorTable(withNames(readFileSync(file, "utf8"), file === index ? "" : linkFrom(file, index), names), linkOf),
  );
  // The signature of a getter stands right below its name.
  text = text.replace(/^#+ Get Signature\n\n/gm, "");
  const guide = guides[name];
  if (guide !== undefined && existsSync(join(root, "docs", `${guide}.md`))) {
    const to = linkFrom(file, join(root, "docs", `${guide}.md`));
    text = text.replace(/^(# .+\n\n(?:.+\n)+)/, (head) => `${head}\nGuide: [${title(guide)}](${to})\n`);
  }
  if (file === index) text = text.replace(/^(?=## )/m, clientTable(index));
  writeFileSync(file, text);
}

if (import.meta.main) {
  const names = referenceTypes();
  for (const file of globSync("**/*.md", { cwd: folder })) improve(join(folder, file), names);
}
