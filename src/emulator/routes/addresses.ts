import { getAddress } from "../../resources/addresses/addresses.endpoints.ts";
import { found } from "../base/problem.ts";
import { type Route, route } from "../http/route.ts";

export const addressRoutes: readonly Route[] = [
  route(getAddress, ({ world, path }) => {
    const { addressReference } = path;
    const stored = found(world.addresses.get(addressReference), `Address ${addressReference}`);
    return { reference: stored.reference, ...stored.address };
  }),
];
