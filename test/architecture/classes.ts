import ts from "typescript";
import { checker, program, root } from "./program.ts";

function symbolOf(source: ts.SourceFile | undefined): ts.Symbol {
  const symbol = source && checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error("src/index.ts exports nothing");
  return symbol;
}

/** What a user can import: each name with the symbol that it refers to. */
export const exported = new Map(
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
export function reachableClasses(): readonly ts.Symbol[] {
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
