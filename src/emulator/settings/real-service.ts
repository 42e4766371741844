import { ConfigurationError, type Issue } from "../../errors/validation.ts";
import type { OrganizationPlan } from "../catalog/organization.ts";
import { keyFault } from "../core/real-keys.ts";
import { remoteFault } from "../core/remote.ts";

/** The options that have URLs or keys. */
interface Given {
  readonly baseUrl: string;
  readonly callbackUrl?: string | undefined;
  readonly secretKey: string;
  readonly keys: OrganizationPlan["keys"];
  readonly organizations: readonly Pick<OrganizationPlan, "name" | "keys" | "stores">[];
}

/** The issue of a value, if it looks like one of the real service. */
const issueOf = (path: Issue["path"], value: string | undefined, faultOf: (value: string) => string | undefined) => {
  const message = value === undefined ? undefined : faultOf(value);
  return message === undefined ? [] : [{ path, message }];
};

/** Throws a {@link ConfigurationError} for URLs and keys in the options that look like ones of the real service. */
export function refuseReal({ baseUrl, callbackUrl, secretKey, keys, organizations }: Given): void {
  const issues = [
    ...issueOf(["baseUrl"], baseUrl, remoteFault),
    ...issueOf(["callbackUrl"], callbackUrl, remoteFault),
    ...issueOf(["secretKey"], secretKey, keyFault),
    ...keys.flatMap((key, position) => issueOf(["keys", position, "secretKey"], key.secretKey, keyFault)),
    ...organizations.flatMap(({ name, keys: own, stores }) => [
      ...own.flatMap((key, position) => issueOf(["organizations", name, "keys", position], key.secretKey, keyFault)),
      ...stores.flatMap(({ legacyCode, callbackUrl: url }) =>
        issueOf(["organizations", name, legacyCode, "callbackUrl"], url, remoteFault),
      ),
    ]),
  ];
  if (issues.length > 0) throw new ConfigurationError({ issues }, "emulator");
}
