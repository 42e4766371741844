import { readdirSync } from "node:fs";
import type { Endpoint } from "../../src/http/endpoint.ts";

const resources = new URL("../../src/resources/", import.meta.url);

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === "object" && value !== null && "call" in value && "path" in value;

/** The descriptors of all endpoints: whatever the files of the resources export. */
export const endpoints: readonly Endpoint[] = (
  await Promise.all(
    readdirSync(resources, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .sort()
      .map((path): Promise<Readonly<Record<string, unknown>>> => import(new URL(path, resources).href)),
  )
).flatMap((module) => Object.values(module).filter(isEndpoint));

/** The endpoint of a method of the client: `orders.create`. */
export function endpointOf(call: string): Endpoint {
  const found = endpoints.find((endpoint) => endpoint.call === call);
  if (found === undefined) throw new Error(`No endpoint is called ${call}`);
  return found;
}
