import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import { endpoints } from "../../resources/endpoints.ts";
import type { Route } from "../http/route.ts";
import { addressRoutes } from "./addresses.ts";
import { catalogRoutes } from "./catalog.ts";
import { claimRoutes } from "./claims.ts";
import { fileRoutes } from "./files.ts";
import { orderRoutes } from "./orders.ts";
import { authRoutes, organizationRoutes } from "./organization.ts";
import { compositionRoutes, perspectiveRoutes, sceneRoutes } from "./rendering.ts";
import { renderRoutes, rendertokenRoutes } from "./renders.ts";
import { shipmentRoutes } from "./shipments.ts";
import { evidenceRoutes, imageRoutes } from "./uploads.ts";
import { warehouseRoutes } from "./warehouse.ts";

const handlers: readonly Route[] = [
  ...authRoutes,
  ...organizationRoutes,
  ...catalogRoutes,
  ...warehouseRoutes,
  ...addressRoutes,
  ...imageRoutes,
  ...evidenceRoutes,
  ...sceneRoutes,
  ...perspectiveRoutes,
  ...compositionRoutes,
  ...renderRoutes,
  ...rendertokenRoutes,
  ...orderRoutes,
  ...shipmentRoutes,
  ...claimRoutes,
];

/** Whether an endpoint has a fixed path. The file routes serve the endpoints that are called with a URL from a response. */
const hasPath = ({ path }: Endpoint): boolean => path.startsWith("/");

/** The routes of every endpoint that the client knows, and of the files that responses point at. */
export function allRoutes(): readonly Route[] {
  for (const endpoint of endpoints.filter(hasPath)) {
    const count = handlers.filter((route) => route.endpoint === endpoint).length;
    if (count !== 1) throw new Error(`The emulator has ${count} routes for ${endpoint.call}; it needs exactly one`);
  }
  return [...handlers, ...fileRoutes];
}
