import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { root } from "./tarball.ts";

const doors = ["index", "callbacks", "node", "opentelemetry", "postgres", "redis", "sqlite", "testing"];
const fileOf = (door: string, kind = "ts"): string => join(root, "dist", `${door}.d.${kind}`);
const programOf = (kind: string): ts.Program =>
  ts.createProgram(
    doors.map((door) => fileOf(door, kind)),
    {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
      types: ["node"],
    },
  );
const program = programOf("ts");
const checker = program.getTypeChecker();

const resolve = (symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
const isDocumented = (symbol: ts.Symbol): boolean => symbol.getDocumentationComment(checker).length > 0;

/** The exports of an entry point, as a user's editor reads them. */
function exportsOf(door: string): readonly ts.Symbol[] {
  if (!existsSync(fileOf(door))) throw new Error("There is no build to read: run `npm run build`.");
  const source = program.getSourceFile(fileOf(door));
  const symbol = source && checker.getSymbolAtLocation(source);
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol);
}

/** The overloads of a class's methods without documentation: an editor shows the overload that fits, or the text of the property. */
const bareMethods = (symbol: ts.Symbol): readonly string[] =>
  checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter((member) => checker.getTypeOfSymbol(member).getCallSignatures().length > 0 && !member.name.startsWith("__"))
    .flatMap((member) =>
      checker
        .getTypeOfSymbol(member)
        .getCallSignatures()
        .filter((signature) => signature.getDocumentationComment(checker).length === 0)
        .filter(() => !(member.flags & ts.SymbolFlags.Property) || member.getDocumentationComment(checker).length === 0)
        .map((signature) => `${symbol.name}.${member.name}${checker.signatureToString(signature)}`),
    );

describe("the built declarations", () => {
  it.each(doors)("document each export of %s.d.ts", (door) => {
    const names = exportsOf(door);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !isDocumented(resolve(name))).map(({ name }) => name)).toEqual([]);
  });

  it("document each method of a class, in each of its overloads", () => {
    const classes = exportsOf("index")
      .map(resolve)
      .filter(({ flags }) => flags & ts.SymbolFlags.Class);
    expect(classes.flatMap(bareMethods)).toEqual([]);
  });

  describe.each([
    ["js", program],
    ["cjs", programOf("cts")],
  ])("of .%s files", (suffix, built) => {
    it.each(doors)("have a value where the module has one, and only there: %s", async (door) => {
      const types = built.getTypeChecker();
      const source = built.getSourceFile(fileOf(door, suffix.replace("js", "ts")));
      const symbol = source && types.getSymbolAtLocation(source);
      const values = symbol === undefined ? [] : types.getPropertiesOfType(types.getTypeOfSymbol(symbol));
      const names = Object.keys(await import(join(root, "dist", `${door}.${suffix}`)));
      const own = names.filter((name) => !["default", "module.exports", "__esModule"].includes(name));
      expect(values.map(({ name }) => name).sort()).toEqual(own.sort());
    });
  });
});
