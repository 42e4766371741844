import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import tsconfig from "../../tsconfig.json" with { type: "json" };

const root = fileURLToPath(new URL("../../", import.meta.url));
const { options } = ts.convertCompilerOptionsFromJson(tsconfig.compilerOptions, root);
const program = ts.createProgram([`${root}src/index.ts`], options);
const checker = program.getTypeChecker();

function symbolOf(source: ts.SourceFile | undefined): ts.Symbol {
  const symbol = source && checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error("src/index.ts exports nothing");
  return symbol;
}

/** What a user can import: each name with the symbol that it refers to. */
const exported = new Map(
  checker
    .getExportsOfModule(symbolOf(program.getSourceFile(`${root}src/index.ts`)))
    .map((symbol) => [symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol, symbol.name]),
);

const isOurs = (symbol: ts.Symbol | undefined): boolean =>
  symbol?.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(`${root}src/`)) ?? false;

const isPrivateName = (declaration: ts.Declaration): boolean => {
  const name = ts.getNameOfDeclaration(declaration);
  return name !== undefined && ts.isPrivateIdentifier(name);
};
const isPublic = (member: ts.Symbol): boolean =>
  !member.declarations?.some(isPrivateName) && !member.getJsDocTags(checker).some(({ name }) => name === "internal");

/** The types that a type refers to: generic arguments, own members, parameters and results of functions. */
function* leadsTo(type: ts.Type): Generator<ts.Type> {
  if (type.isUnionOrIntersection()) yield* type.types;
  yield* type.aliasTypeArguments ?? [];
  if ("target" in type) yield* checker.getTypeArguments(type as ts.TypeReference);
  if (!isOurs(type.symbol)) return;
  for (const member of checker.getPropertiesOfType(type).filter(isPublic)) yield checker.getTypeOfSymbol(member);
  for (const signature of type.getCallSignatures()) {
    yield signature.getReturnType();
    yield* signature.getParameters().map((parameter) => checker.getTypeOfSymbol(parameter));
  }
}

/** Every class that is reachable from the client, the client first. */
function reachableClasses(): readonly ts.Symbol[] {
  const client = [...exported].find(([, name]) => name === "PodPartner")?.[0];
  if (client === undefined) throw new Error("src/index.ts exports no PodPartner");
  const seen = new Set<ts.Type>();
  const left = [checker.getDeclaredTypeOfSymbol(client)];
  for (let type = left.pop(); type !== undefined; type = left.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    left.push(...leadsTo(type));
  }
  const symbols = [...seen].map(({ symbol }) => symbol).filter(isOurs);
  return [...new Set(symbols)].filter(({ flags }) => flags & ts.SymbolFlags.Class);
}

describe("the classes that are reachable from the client", () => {
  const classes = reachableClasses();

  it("are all exported: a library that exports one of them needs its name", () => {
    expect(classes.length).toBeGreaterThan(15);
    expect(classes.filter((symbol) => !exported.has(symbol)).map(({ name }) => name)).toEqual([]);
  });

  it("are called resources, so that they differ from the records that they return", () => {
    const ofResources = classes.filter((symbol) =>
      symbol.declarations?.some((declaration) => declaration.getSourceFile().fileName.includes("/src/resources/")),
    );
    expect(ofResources.filter(({ name }) => !name.endsWith("Resource")).map(({ name }) => name)).toEqual([]);
  });
});
