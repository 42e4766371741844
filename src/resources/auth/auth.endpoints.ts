import { endpoint } from "../../http/endpoint/endpoint.ts";
import { type KeyValidation, keyValidation } from "./auth.schema.ts";

export const validateKey = endpoint<"/auth/validate", KeyValidation>({
  call: "auth.validate",
  method: "POST",
  path: "/auth/validate",
  response: { kind: "whole", schema: keyValidation },
  repeat: "safe",
});
