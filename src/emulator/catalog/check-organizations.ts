import type { Issue } from "../../errors/validation.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { unknownPattern } from "../core/call-patterns.ts";
import { type OrganizationPlan, storeTable } from "./organization.ts";

/** The text that occurs more than once. */
const repeated = (texts: readonly string[]): string | undefined =>
  texts.find((text, position) => texts.indexOf(text) !== position);

/** What is wrong with the organizations together: names, keys and store codes that occur twice, and permissions that name no call. */
export function organizationIssues(
  plans: readonly OrganizationPlan[],
  endpoints: readonly Endpoint[],
): readonly Issue[] {
  const path = ["organizations"];
  const keys = plans.flatMap((plan) => plan.keys);
  const name = repeated(plans.map((plan) => plan.name));
  const demoCodes = Object.values(storeTable).map(({ legacyCode }) => legacyCode);
  const code = repeated([...demoCodes, ...plans.flatMap(({ stores }) => stores.map(({ legacyCode }) => legacyCode))]);
  const call = unknownPattern(
    keys.flatMap(({ permissions }) => permissions ?? []),
    endpoints,
  );
  return [
    ...(name === undefined ? [] : [{ path, message: `two organizations have the name ${name}` }]),
    // The message does not show the key.
    ...(repeated(keys.map(({ secretKey }) => secretKey)) === undefined
      ? []
      : [{ path, message: "two keys are equal" }]),
    ...(code === undefined ? [] : [{ path, message: `two stores have the legacyCode ${code}` }]),
    ...(call === undefined ? [] : [{ path, message: `a permission names the unknown call ${call}` }]),
  ];
}
