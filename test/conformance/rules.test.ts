import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import * as first from "./rules/part-1-and-2.ts";
import * as second from "./rules/part-3-and-4.ts";
import * as third from "./rules/part-5-to-9.ts";
import { emulated, endpoints, readByReference, ruleOf } from "./support/endpoints.ts";

const ofEndpoints = {
  rules: Object.fromEntries(endpoints.map((endpoint) => [ruleOf(endpoint), endpoint.says])),
  unheld: {},
};
const parts = [first, second, ofEndpoints, third];
const rules = parts.flatMap((part) => Object.entries(part.rules));
const unheld = parts.flatMap((part) => Object.entries(part.unheld));

const folder = fileURLToPath(new URL("./", import.meta.url));

/** A test of this suite: the rules that its name begins with, the behaviour, and the file. */
interface Held {
  readonly rules: readonly string[];
  readonly behaviour: string;
  readonly file: string;
}

/** Whether an expression is `it` or `it.each(…)`. Skipped tests hold no rule. */
const runsTest = (callee: ts.Expression): boolean =>
  (ts.isIdentifier(callee) && callee.text === "it") ||
  (ts.isCallExpression(callee) && callee.expression.getText() === "it.each");

function* callsOf(node: ts.Node): Generator<ts.CallExpression> {
  if (ts.isCallExpression(node)) yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* callsOf(child);
}

/** The text of a table: an array, or a constant of the file. */
function textOf(table: ts.Expression, { statements }: ts.SourceFile): string {
  if (!ts.isIdentifier(table)) return table.getText();
  const constants = statements.filter(ts.isVariableStatement).flatMap((one) => one.declarationList.declarations);
  return constants.find(({ name }) => name.getText() === table.text)?.initializer?.getText() ?? "";
}

/** Tables of `support/endpoints.ts`. */
const tables: Readonly<Record<string, readonly (readonly [rule: string, ...unknown[]])[]>> = {
  emulated,
  readByReference,
};

/** The rules that the first elements of a table of `it.each` name, for a test whose name begins with `%s`. */
function rowsOf(callee: ts.Expression, tree: ts.SourceFile): readonly string[] {
  const [table] = ts.isCallExpression(callee) ? callee.arguments : [];
  const ofEndpoints = tables[table?.getText() ?? ""];
  if (ofEndpoints !== undefined) return ofEndpoints.map(([rule]) => rule);
  return [...(table === undefined ? "" : textOf(table, tree)).matchAll(/\[\s*"(\d[^"]*)"/g)].map(
    ([, rule = ""]) => rule,
  );
}

/** The tests in a file whose names begin with rules. */
function testsOf(file: string): readonly Held[] {
  const tree = ts.createSourceFile(file, readFileSync(folder + file, "utf8"), ts.ScriptTarget.Latest, true);
  return [...callsOf(tree)]
    .filter(({ expression }) => runsTest(expression))
    .flatMap(({ expression, arguments: [name] }) => {
      if (name === undefined || !ts.isStringLiteralLike(name)) return [];
      const [, prefix = "", behaviour = ""] = /^(.+?): (.+)$/s.exec(name.text) ?? [];
      const named = prefix.split(", ").flatMap((rule) => (rule === "%s" ? rowsOf(expression, tree) : [rule]));
      return [{ rules: named, behaviour, file }];
    });
}

const files = readdirSync(folder).filter((file) => /^part-.*\.test\.ts$/.test(file));
const tests = files.flatMap(testsOf);

it("every rule of the specification has a test, or a reason why it has none", () => {
  const held = new Set(tests.flatMap((test) => test.rules));
  expect(rules.map(([rule]) => rule).filter((rule) => !held.has(rule))).toEqual([]);
  expect(rules.length).toBeGreaterThan(200);
  expect(unheld.filter(([, [says, reason]]) => says === "" || reason === "")).toEqual([]);
});

it("every test names a rule of the list", () => {
  const known = new Set(rules.map(([rule]) => rule));
  expect(tests.flatMap((test) => test.rules.filter((rule) => !known.has(rule)))).toEqual([]);
  expect(tests.filter((test) => test.rules.length === 0)).toEqual([]);
});

it("no rule is listed twice", () => {
  const all = [...rules, ...unheld].map(([rule]) => rule);
  expect(all.filter((rule, index) => all.indexOf(rule) !== index)).toEqual([]);
});

it("no file of the suite imports anything of the package except startEmulator", () => {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const imports = all.flatMap((file) =>
    [
      ...readFileSync(folder + file, "utf8").matchAll(/^(?:import|export) (.*?) from "(pod-partner.*|.*src\/.*)";$/gms),
    ].map(([, names]) => names),
  );
  expect(imports).toEqual(["{ type StartEmulatorOptions, startEmulator }"]);
});

const escaped = (text: string) => text.replaceAll("|", "\\|");

it("rules.md lists the rules with their tests", async () => {
  const rows = rules.map(([rule, says]) => {
    const held = tests.filter((test) => test.rules.includes(rule));
    const places = [...new Set(held.map(({ file }) => file))].map((file) => {
      const ofFile = held.filter((test) => test.file === file).map(({ behaviour }) => behaviour);
      return `\`${file}\`: ${ofFile.join("; ")}`;
    });
    return `| ${escaped(rule)} | ${escaped(says)} | ${escaped(places.join("<br>"))} |`;
  });
  const others = unheld.map(([rule, [says, reason]]) => `| ${rule} | ${escaped(says)} | ${reason} |`);
  const page = [
    "# Which rule of the specification does which test hold?",
    "",
    "Written by `rules.test.ts`. The number of a rule begins the names of its tests.",
    "",
    `## ${rules.length} rules with tests`,
    "",
    "| Rule | It says | Tests |",
    "|---|---|---|",
    ...rows,
    "",
    `## ${unheld.length} rules without tests`,
    "",
    "| Rule | It says | Why no test |",
    "|---|---|---|",
    ...others,
    "",
  ];
  await expect(page.join("\n")).toMatchFileSnapshot("rules.md");
});
