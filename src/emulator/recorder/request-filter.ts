import * as z from "zod/mini";
import type { Endpoint } from "../../http/endpoint.ts";
import { check } from "../../schemas/check.ts";
import { endpointsNamed } from "../core/endpoint-names.ts";
import { faultKinds } from "../faults/fault.schema.ts";
import type { LoggedRequest, RequestFilter } from "./logged-request.ts";

const text = () => z.optional(z.string());

const schema = () =>
  z.strictObject({
    on: text(),
    method: text(),
    path: text(),
    status: z.optional(z.number()),
    fault: z.optional(z.enum(faultKinds)),
    outcome: z.optional(z.enum(["open", "responded", "dropped", "aborted"])),
  });

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? "";

/**
 * Makes the function that says whether a request matches a filter.
 *
 * @throws TypeError for an invalid filter: a test with a misspelled name would count no request, and pass.
 */
export function createMatch(endpoints: readonly Endpoint[]) {
  return (filter: RequestFilter): ((entry: LoggedRequest) => boolean) => {
    const checked = check(schema, filter, [], { message: "is an unknown field of the filter" });
    if (!checked.ok) {
      const issues = checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
      throw new TypeError(`The filter of requests is not valid. ${issues.join("; ")}`);
    }
    const { on, path, ...exact } = filter;
    const calls = on === undefined ? undefined : endpointsNamed(on, endpoints).map(({ call }) => call);
    const fields = Object.entries(exact).filter(([, value]) => value !== undefined);
    return (entry) =>
      (calls === undefined || (entry.call !== undefined && calls.includes(entry.call))) &&
      (path === undefined || path === entry.path || path === withoutQuery(entry.path)) &&
      fields.every(([name, value]) => entry[name as keyof LoggedRequest] === value);
  };
}
