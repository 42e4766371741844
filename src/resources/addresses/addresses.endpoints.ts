import { assumed, endpoint, field } from "../../http/endpoint.ts";
import { address } from "../../schemas/address.ts";

export const getAddress = endpoint({
  call: "addresses.get",
  method: "GET",
  path: "/addresses/{addressReference}",
  response: assumed(field("address", address)),
  repeat: "safe",
});
