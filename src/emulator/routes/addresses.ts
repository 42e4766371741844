import { getAddress } from "../../resources/addresses/addresses.ts";
import { found } from "../base/problem.ts";
import { type Route, referenceOnly, route } from "../http/route.ts";

export const addressRoutes: readonly Route[] = [
  route(getAddress, {
    models: "addresses of orders and shipments; 404 for a replaced address without a shipment",
    // 4.12: not shown
    promises: referenceOnly,
    handle: ({ world, path }) => {
      const { addressReference } = path;
      const stored = found(world.addresses.get(addressReference), `Address ${addressReference}`);
      return { reference: stored.reference, ...stored.address };
    },
  }),
];
