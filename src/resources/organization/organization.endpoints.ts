import { assumed, endpoint, field, list } from "../../http/endpoint/endpoint.ts";
import { account, brand, organization, store } from "./organization.schema.ts";

export const getOrganization = endpoint({
  call: "organization.get",
  method: "GET",
  path: "/organization",
  response: assumed(field("organization", organization)),
  repeat: "safe",
});

export const listAccounts = endpoint({
  call: "organization.accounts.list",
  method: "GET",
  path: "/accounts",
  response: assumed(list("accounts", account)),
  repeat: "safe",
});

export const listStores = endpoint({
  call: "organization.stores.list",
  method: "GET",
  path: "/stores",
  response: assumed(list("stores", store)),
  repeat: "safe",
});

export const listBrands = endpoint({
  call: "organization.brands.list",
  method: "GET",
  path: "/brands",
  response: assumed(list("brands", brand)),
  repeat: "safe",
});
