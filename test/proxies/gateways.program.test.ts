import { expect, it } from "vitest";
import { gatewayKinds, isInstalled } from "./gateway/gateway.ts";

it.each(gatewayKinds)("the machine has %s installed", (kind) => {
  if (!isInstalled(kind) && process.env.CI === undefined) {
    return console.warn(`${kind} is not installed: the tests behind it are left out.`);
  }
  expect(isInstalled(kind)).toBe(true);
});
