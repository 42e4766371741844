import { ConfigurationError } from "../errors/validation.ts";
import { withFields } from "../util/split-fields.ts";

/** Throws a `ConfigurationError` for an option of a store. */
export function refuse(path: readonly string[], message: string): never {
  throw new ConfigurationError({ issues: [{ path, message }] }, "store");
}

/** Reads the options. Refuses unknown ones, which may be typing errors, and a name for the organization that is not a text. */
export function readStoreOptions<Options extends { readonly organization?: string | undefined }>(
  given: Options,
  known: readonly string[],
): Options {
  const options = withFields(given, (fields) => fields);
  if (Object.is(options, given)) refuse([], `expected an object with ${known.join(" or ")}`);
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) refuse([name], `unknown option; expected ${known.join(" or ")}`);
  }
  const { organization }: { readonly organization?: unknown } = options;
  // Two organizations with an empty name would share one part of the store.
  if (organization !== undefined && (typeof organization !== "string" || organization === "")) {
    refuse(["organization"], "expected a text that is not empty");
  }
  return options;
}
