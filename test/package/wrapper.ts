import { dirname, join } from "node:path";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };

/** The entry points of the package that have types, as a program imports them. */
const entryPoints = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === "object")
  .map(([path]) => path.replace(/^\./, manifest.name));

const isPublic = ({ name, declarations = [] }: ts.Symbol): boolean =>
  !/^(__|#)/.test(name) && !declarations.some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private);

/** The two forms in which a wrapper exports a method: bound, and as a function that passes its arguments on. */
const formsOf = (type: string, method: string): readonly string[] => {
  const [value, key] = [`value[${JSON.stringify(method)}]`, `${type}[${JSON.stringify(method)}]`];
  return [
    `(value: ${type}) => ${value}.bind(value)`,
    `(value: ${type}, ...args: Parameters<${key}>) => (${value} as (...args: unknown[]) => ReturnType<${key}>)(...args)`,
  ];
};

/**
 * A module that exports everything it gets from the package: each value, and each member of each exported type, so each method of the
 * client. Made from the types, so that it has every method.
 *
 * @param file A module in the project that has the package installed.
 */
export function wrapperOf(file: string): string {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    typeRoots: [join(dirname(file), "node_modules/@types")],
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const names = [...entryPoints, "@opentelemetry/api"];
  const imports = names.map((path, index) => `import * as e${index} from ${JSON.stringify(path)};`).join("\n");
  const read: ts.CompilerHost["getSourceFile"] = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, imports, ts.ScriptTarget.ES2023, true)
      : host.getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, { ...host, getSourceFile: read });
  const checker = program.getTypeChecker();
  const expressions: string[] = [];
  /** The methods that have their forms: a class inherits some, and two entry points can export the same class. */
  const done = new Set<ts.Declaration | undefined>();
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
        const given = parameters.length === 0 ? name : `${name}<${parameters.join(", ")}>`;
        const members = checker.getPropertiesOfType(type).filter(isPublic);
        const fields = members.map(({ name: key }) => `${JSON.stringify(key)}: value[${JSON.stringify(key)}]`);
        expressions.push(`(value: ${given}) => ({ ${fields.join(", ")} })`);
        for (const member of members) {
          const [declaration] = member.declarations ?? [];
          if (done.has(declaration) || checker.getTypeOfSymbol(member).getCallSignatures().length === 0) continue;
          done.add(declaration);
          expressions.push(...formsOf(given, member.name));
        }
      }
    });
  const lines = expressions.map((expression, index) => `export const v${index} = ${expression};`);
  return `${imports}\n${lines.join("\n")}\n`;
}
