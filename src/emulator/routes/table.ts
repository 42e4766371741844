import type { Endpoint } from "../../http/endpoint.ts";
import type { Route } from "../http/route.ts";
import { addressRoutes } from "./addresses.ts";
import { catalogRoutes, warehouseRoutes } from "./catalog.ts";
import { claimRoutes } from "./claims.ts";
import { orderRoutes } from "./orders.ts";
import { authRoutes, organizationRoutes } from "./organization.ts";
import { compositionRoutes, perspectiveRoutes, sceneRoutes } from "./rendering.ts";
import { renderRoutes, rendertokenRoutes } from "./renders.ts";
import { shipmentRoutes } from "./shipments.ts";
import { evidenceRoutes, imageRoutes } from "./uploads.ts";

/** The routes of every endpoint that the client knows, and of the files that responses point at. */
export const allRoutes: readonly Route[] = [
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

/** Their descriptors. */
export const allEndpoints: readonly Endpoint[] = allRoutes.map(({ endpoint }) => endpoint);
