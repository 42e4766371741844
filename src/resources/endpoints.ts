import type { Endpoint } from "../http/endpoint/endpoint.ts";
import * as addresses from "./addresses/addresses.endpoints.ts";
import * as auth from "./auth/auth.endpoints.ts";
import * as catalog from "./catalog/catalog.endpoints.ts";
import * as claims from "./claims/claims.endpoints.ts";
import * as compositions from "./compositions/compositions.endpoints.ts";
import * as evidence from "./evidence/evidence.endpoints.ts";
import * as images from "./images/images.endpoints.ts";
import * as orders from "./orders/orders.endpoints.ts";
import * as organization from "./organization/organization.endpoints.ts";
import * as perspectives from "./perspectives/perspectives.endpoints.ts";
import * as renders from "./renders/renders.endpoints.ts";
import * as rendertokens from "./rendertokens/rendertokens.endpoints.ts";
import * as scenes from "./scenes/scenes.endpoints.ts";
import * as shipments from "./shipments/shipments.endpoints.ts";
import * as warehouse from "./warehouse/warehouse.endpoints.ts";

/** Every endpoint, in the order of the specification. The emulator routes by this list; a test compares it with part 4. */
export const endpoints: readonly Endpoint[] = [
  auth,
  organization,
  catalog,
  warehouse,
  addresses,
  images,
  evidence,
  scenes,
  perspectives,
  compositions,
  renders,
  rendertokens,
  orders,
  shipments,
  claims,
].flatMap((module) => Object.values<unknown>(module).filter(isEndpoint));

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === "object" && value !== null && "call" in value;
}
