import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };

/** The entry points of the package that have types, as a program imports them. */
const entryPoints = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === "object")
  .map(([path]) => path.replace(/^\./, manifest.name));

const isPublic = ({ name, declarations = [] }: ts.Symbol): boolean =>
  !/^(__|#)/.test(name) && !declarations.some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private);

/** The forms in which a wrapper exports one member of a value: as it is, bound, and as functions that pass their arguments on. */
function* formsOf(value: string, member: string, isFunction: boolean): Generator<string> {
  const of = `value[${JSON.stringify(member)}]`;
  yield `(value: ${value}) => ${of}`;
  if (!isFunction) return;
  const type = `${value}[${JSON.stringify(member)}]`;
  yield `(value: ${value}) => ${of}.bind(value)`;
  yield `(value: ${value}) => (...args: Parameters<${type}>) => (${of} as (...args: unknown[]) => ReturnType<${type}>)(...args)`;
  yield `async (value: ${value}, ...args: Parameters<${type}>) => await (${of} as (...args: unknown[]) => ReturnType<${type}>)(...args)`;
}

/**
 * A module that exports everything it gets from the package: each value, and each member of each exported type, so each method of the
 * client. Made from the types, so that it has every method.
 *
 * @param file A module in the project that has the package installed.
 */
export function wrapperOf(file: string, options: ts.CompilerOptions): string {
  const names = [...entryPoints, "@opentelemetry/api"];
  const imports = names.map((path, index) => `import * as e${index} from ${JSON.stringify(path)};`).join("\n");
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, imports, ts.ScriptTarget.ES2023, true) : read(name, ...rest);
  const program = ts.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const expressions: string[] = [];
  program
    .getSourceFile(file)
    ?.statements.filter(ts.isImportDeclaration)
    .forEach(({ moduleSpecifier }, index) => {
      const module = checker.getSymbolAtLocation(moduleSpecifier);
      // What `pod-partner/opentelemetry` takes belongs to another package: a program imports it from there.
      if (module === undefined || index >= entryPoints.length) return;
      const values = new Set(checker.getPropertiesOfType(checker.getTypeOfSymbol(module)).map((value) => value.name));
      for (const exported of checker.getExportsOfModule(module)) {
        const name = `e${index}.${exported.name}`;
        const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        if (values.has(exported.name)) expressions.push(name);
        if ((symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) === 0) continue;
        const type = checker.getDeclaredTypeOfSymbol(symbol) as ts.InterfaceType;
        const parameters = type.typeParameters?.map(() => "any") ?? [];
        const value = parameters.length === 0 ? name : `${name}<${parameters.join(", ")}>`;
        const members = checker.getPropertiesOfType(type);
        // A value that only the package can make has a member that only the package can name.
        if (!members.some((member) => member.name.startsWith("__@opaque")))
          expressions.push(`(value: ${value}) => ({ ...value })`);
        for (const member of members.filter(isPublic)) {
          const isFunction = checker.getTypeOfSymbol(member).getCallSignatures().length > 0;
          expressions.push(...formsOf(value, member.name, isFunction));
        }
      }
    });
  const lines = expressions.map((expression, index) => `export const v${index} = ${expression};`);
  return `${imports}\n${lines.join("\n")}\nexport default { ${lines.map((_, index) => `v${index}`).join(", ")} };\n`;
}
