import { endpoint, field } from "../../http/endpoint/endpoint.ts";
import { shipment } from "./shipments.schema.ts";

export const getShipment = endpoint({
  call: "shipments.get",
  method: "GET",
  path: "/shipments/{shipmentReference}",
  response: field("shipment", shipment),
  repeat: "safe",
});
