import { endpoint, field } from "../../http/endpoint/endpoint.ts";
import { rendertokens } from "./rendertokens.schema.ts";

export const getRendertokens = endpoint({
  call: "rendertokens.get",
  method: "GET",
  path: "/rendertokens",
  response: field("rendertokens", rendertokens),
  repeat: "safe",
});
