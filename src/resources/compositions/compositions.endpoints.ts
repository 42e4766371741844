import { endpoint, field } from "../../http/endpoint/endpoint.ts";
import { reference } from "../../references/schema.ts";
import { composition } from "./compositions.schema.ts";

export const lookupComposition = endpoint({
  call: "compositions.lookup",
  method: "GET",
  path: "/lookup-composition",
  query: {
    sceneReference: () => reference("Scene"),
    productReference: () => reference("Product"),
    perspectiveReference: () => reference("Perspective"),
  },
  response: field("composition", composition),
  repeat: "safe",
});

export const getComposition = endpoint({
  call: "compositions.get",
  method: "GET",
  path: "/compositions/{compositionReference}",
  response: field("composition", composition),
  repeat: "safe",
});
