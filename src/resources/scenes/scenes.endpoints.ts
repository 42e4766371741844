import * as z from "zod/mini";
import { endpoint, field, list } from "../../http/endpoint/endpoint.ts";
import { reference } from "../../references/schema.ts";
import { scene, sceneSummary } from "./scenes.schema.ts";

export const listScenes = endpoint({
  call: "scenes.list",
  method: "GET",
  path: "/scenes",
  query: { productgroupReference: () => z.optional(reference("Productgroup")) },
  response: list("scenes", sceneSummary),
  repeat: "safe",
});

export const getScene = endpoint({
  call: "scenes.get",
  method: "GET",
  path: "/scenes/{sceneReference}",
  response: field("scene", scene),
  repeat: "safe",
});
