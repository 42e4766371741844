import { validateKey } from "../../resources/auth/auth.ts";
import { getOrganization, listAccounts, listBrands, listStores } from "../../resources/organization/organization.ts";
import { named, only, type Route, referenceOnly, route } from "../http/route.ts";

export const authRoutes: readonly Route[] = [
  route(validateKey, {
    models: "valid, missing, unknown and revoked keys",
    options: ["secretKey", "keys"],
    controls: ["updateKey"],
    promises: only(named("message")),
    handle: () => ({ message: "The key is valid" }),
  }),
];

export const organizationRoutes: readonly Route[] = [
  route(getOrganization, {
    models: "the organization of the key",
    options: ["organizations"],
    // 4.12: not shown; an organization has no kind of reference
    promises: only({}),
    handle: ({ world }) => world.organization,
  }),
  route(listAccounts, {
    models: "two demo accounts; one for another organization",
    options: ["organizations"],
    promises: referenceOnly,
    handle: ({ world }) => world.accounts,
  }),
  route(listStores, {
    models:
      "two demo stores that accept orders and one of a platform; the stores of the option for another organization",
    options: ["organizations.stores"],
    controls: ["setStoreIntegration", "setCallbackUrl"],
    promises: only(named("reference", "integration", "legacyCode")),
    handle: ({ world }) =>
      Array.from(world.stores.values(), ({ reference, name, integration, legacyCode }) => ({
        reference,
        name,
        integration,
        legacyCode,
      })),
  }),
  route(listBrands, {
    models: "two demo brands; one for another organization",
    options: ["organizations"],
    promises: referenceOnly,
    handle: ({ world }) => world.brands,
  }),
];
