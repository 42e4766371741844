import { type ListResource, type OrganizationResource, PodPartner, type Store } from "pod-partner";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

export const { auth, organization, catalog, warehouse, addresses, images, evidence, scenes, perspectives } = partner;
export const { compositions, renders, rendertokens, orders, shipments, claims } = partner;
export const { accounts, stores, brands } = organization;
export const { products, productgroups, packagings } = catalog;
export const { items } = warehouse;
export const { categories } = claims;
export const newestOrders = orders.list();

export const readOrganization = (of: OrganizationResource) => of.get();
export const readStores = (of: ListResource<Store>) => of.list();
