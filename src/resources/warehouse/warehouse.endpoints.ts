import { cursor, endpoint, page } from "../../http/endpoint/endpoint.ts";
import { item } from "./warehouse.schema.ts";

export const listItems = endpoint({
  call: "warehouse.items.list",
  method: "GET",
  path: "/items",
  query: cursor,
  response: page("items", item),
  repeat: "safe",
});
