import { validateKey } from "../../resources/auth/auth.endpoints.ts";
import {
  getOrganization,
  listAccounts,
  listBrands,
  listStores,
} from "../../resources/organization/organization.endpoints.ts";
import { type Route, route } from "../http/route.ts";

export const authRoutes: readonly Route[] = [route(validateKey, () => ({ message: "The key is valid" }))];

export const organizationRoutes: readonly Route[] = [
  route(getOrganization, ({ world }) => world.organization),
  route(listAccounts, ({ world }) => world.accounts),
  route(listStores, ({ world }) =>
    Array.from(world.stores.values(), ({ reference, name, integration, legacyCode }) => ({
      reference,
      name,
      integration,
      legacyCode,
    })),
  ),
  route(listBrands, ({ world }) => world.brands),
];
