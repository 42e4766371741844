import ts from "typescript";
import { endpoints } from "../support/endpoints.ts";
import { checker, program, root } from "./program.ts";

/** A method of the client, as its source declares it. */
interface Method {
  /** From the client: `orders.create`. */
  readonly call: string;
  readonly parameters: string;
  readonly result: string;
  /** The first sentence of its doc comment. */
  readonly effect: string;
}

const isResource = (type: ts.Type): boolean => type.symbol?.name.endsWith("Resource") ?? false;

const isPublic = (member: ts.Symbol): boolean => {
  const name = member.valueDeclaration && ts.getNameOfDeclaration(member.valueDeclaration);
  const isPrivate = name !== undefined && !ts.isIdentifier(name);
  return !isPrivate && !member.getJsDocTags(checker).some((tag) => tag.name === "internal");
};

const effectOf = (member: ts.Symbol): string => {
  const comment = ts
    .displayPartsToString(member.getDocumentationComment(checker))
    .replaceAll("\n", " ")
    .replace(/\{@link (?:\w+\.)?(\w+)\}/g, "`$1`")
    .replace(/ \(specification .*?\)/g, "");
  return /^.*?(?=\.(?: |$))/.exec(comment)?.[0] ?? comment;
};

/** As the source writes it, or with the arguments of a generic type; `ApiCall<Order>` and `Promise<Order>` give `Order`. */
function resultOf(signature: ts.Signature, member: ts.Symbol): string {
  const { type, parent } = signature.declaration ?? {};
  const isGeneric = parent !== undefined && ts.isClassDeclaration(parent) && parent.typeParameters !== undefined;
  let written = isGeneric ? checker.typeToString(signature.getReturnType()) : (type?.getText() ?? "");
  // A getter of a generic type, as `getMany`.
  const getter = member.declarations?.find(ts.isGetAccessor);
  const given =
    getter?.type !== undefined && ts.isTypeReferenceNode(getter.type) ? getter.type.typeArguments : undefined;
  if (parent !== undefined && ts.isInterfaceDeclaration(parent))
    for (const [index, { name }] of (parent.typeParameters ?? []).entries())
      written = written.replace(new RegExp(`\\b${name.text}\\b`, "g"), given?.[index]?.getText() ?? name.text);
  return /^(?:ApiCall|Promise)<(.*)>$/s.exec(written)?.[1] ?? written;
}

const parameterOf = (symbol: ts.Symbol): string => {
  const declaration = symbol.valueDeclaration;
  if (declaration === undefined || !ts.isParameter(declaration)) return symbol.name;
  const name = declaration.name.getText().replace(/\s+/g, " ");
  return declaration.questionToken || declaration.initializer ? `${name}?` : name;
};

function* methodsOf(type: ts.Type, prefix: string): Generator<Method> {
  for (const member of checker.getPropertiesOfType(type).filter(isPublic)) {
    const call = prefix + member.name;
    const memberType = checker.getTypeOfSymbol(member);
    if (isResource(memberType)) yield* methodsOf(memberType, `${call}.`);
    const signatures = memberType.getCallSignatures();
    const longest = signatures.toSorted((one, other) => other.parameters.length - one.parameters.length)[0];
    if (longest === undefined) continue;
    yield {
      call,
      parameters: longest.parameters.map(parameterOf).join(", "),
      result: [...new Set(signatures.flatMap((one) => resultOf(one, member).split(" | ")))].join(" | "),
      effect: effectOf(member),
    };
  }
}

const source = program.getSourceFile(`${root}src/client.ts`);
const module = source && checker.getSymbolAtLocation(source);
const client = module && checker.getExportsOfModule(module).find(({ name }) => name === "PodPartner");
if (client === undefined) throw new Error("src/client.ts exports no PodPartner");
const clientType = checker.getDeclaredTypeOfSymbol(client);

/** All public methods of the client. */
export const methods: readonly Method[] = [...methodsOf(clientType, "")];

const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;

const rowOf = ({ call, parameters, result, effect }: Method): string => {
  const endpoint = endpoints.find((one) => one.call === call);
  const sent = endpoint === undefined ? "" : code(`${endpoint.method} ${endpoint.path}`);
  return row(code(`partner.${call}(${parameters})`), sent, code(result), effect);
};

const sectionOf = (resource: ts.Symbol): readonly string[] => [
  `## \`partner.${resource.name}\``,
  "",
  `${effectOf(resource)}.`,
  "",
  row("Call", "Endpoint", "Result", "Effect"),
  "|---|---|---|---|",
  ...methods.filter(({ call }) => call.startsWith(`${resource.name}.`)).map(rowOf),
  "",
];

/** The page `docs/endpoints.md`, from the descriptors, and from the declarations and doc comments of the methods. */
export const page = (): string =>
  [
    "# Endpoints",
    "",
    "*Which method calls which endpoint?*",
    "",
    "`partner` is a `PodPartner`. Required input is positional. Options go into one last object, which also takes the",
    "[request options](options.md#a-request). A method without an endpoint combines others. Every result except a list with pages is a",
    "promise; those of one endpoint have `withResponse()`. Iterate a `Paginator` with `for await`: [lists](pagination.md). `void` means a",
    "204 response. `pod-partner` exports each type.",
    "",
    ...checker
      .getPropertiesOfType(clientType)
      .filter((member) => isPublic(member) && isResource(checker.getTypeOfSymbol(member)))
      .flatMap(sectionOf),
    "## Any other endpoint",
    "",
    row("Call", "Endpoint", "Result", "Effect"),
    "|---|---|---|---|",
    ...methods.filter(({ call }) => !call.includes(".")).map(rowOf),
    "",
    "`partner.rateLimits` sends nothing: it reports the [rate limits](rate-limits.md) of the latest responses.",
    "",
  ].join("\n");
