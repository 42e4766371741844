import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The parts of an OpenAPI document that a response is checked with. */
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
interface Operation {
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Content>> };
}

/** The operations that were checked in this file. */
let checks: Promise<(exchange: Exchange) => void> | undefined;

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** Makes the function that checks a request and its response against the document. */
function checker(document: OpenapiDocument): (exchange: Exchange) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, "openapi");
  const compiled = new Map<string, ValidateFunction>();
  /** The schema at a JSON pointer of the document. */
  const validatorOf = (...path: readonly string[]): ValidateFunction => {
    const pointer = path.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  return ({ method, path, sent, status, type, body }) => {
    const [pathname = ""] = path.split("?");
    // A path without parameters is more exact: `/products/lookup` is not a product.
    const template = templates
      .filter(({ pattern }) => pattern.test(pathname))
      .toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)[0];
    const operation = template && document.paths[template.path]?.[method.toLowerCase()];
    // The document does not describe 5xx (specification 7.3), nor what is no endpoint.
    if (template === undefined || operation === undefined || status >= 500) return;
    const where = ["paths", template.path, method.toLowerCase()];
    const key = [String(status), `${String(status)[0]}XX`].find((name) => name in operation.responses);
    expect(key, `${method} ${template.path}: the status ${status} is not in the document`).toBeDefined();
    const found = operation.responses[key ?? ""];
    const shared = found?.$ref?.split("/").at(-1);
    const at = shared === undefined ? [...where, "responses", key ?? ""] : ["components", "responses", shared];
    const { content } = shared === undefined ? (found ?? {}) : (document.components.responses[shared] ?? {});
    const check = (value: unknown, validate: ValidateFunction, what: string) => {
      if (!validate(value)) expect.fail(`${method} ${path} ${status}, ${what}: ${ajv.errorsText(validate.errors)}`);
    };
    if (body !== undefined) {
      expect(Object.keys(content ?? {}), `${method} ${template.path} ${status}`).toContain(type.split(";")[0]);
      check(body, validatorOf(...at, "content", "application/json", "schema"), "the response");
    }
    const takesJson = operation.requestBody?.content?.["application/json"] !== undefined;
    if (status < 300 && takesJson && sent !== undefined) {
      check(
        sent,
        validatorOf(...where, "requestBody", "content", "application/json", "schema"),
        "the accepted request",
      );
    }
  };
}

/** Checks a request and its response against the document that the emulator itself serves. */
export async function expectDocumented(origin: string, exchange: Exchange): Promise<void> {
  checks ??= fetch(new URL("/_emulator/openapi.json", origin))
    .then((response) => response.json())
    .then((document) => checker(document as OpenapiDocument));
  (await checks)(exchange);
}
