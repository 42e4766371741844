import { unknownRef } from "./inputs.ts";

/** The policies of part 8. */
export type Bucket = "uploads" | "downloads";

/** An endpoint of part 4: its method and path, and the bucket of part 8 that it draws from besides `default`. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly bucket?: Bucket;
}

const get = (path: string, bucket?: Bucket): Endpoint => ({ method: "GET", path, ...(bucket && { bucket }) });
const post = (path: string, bucket?: Bucket): Endpoint => ({ method: "POST", path, ...(bucket && { bucket }) });

/** Every endpoint of part 4, in its order. */
export const endpoints: readonly Endpoint[] = [
  post("/auth/validate"),
  get("/organization"),
  get("/accounts"),
  get("/stores"),
  get("/brands"),
  get("/products"),
  get("/products/{productReference}"),
  get("/products/{productReference}/media/{filename}", "downloads"),
  get("/packagings"),
  get("/productgroups"),
  get("/items"),
  get("/addresses/{addressReference}"),
  post("/images", "uploads"),
  get("/images"),
  post("/evidence", "uploads"),
  get("/scenes"),
  get("/scenes/{sceneReference}"),
  get("/perspectives"),
  get("/perspectives/{perspectiveReference}"),
  get("/lookup-composition"),
  get("/compositions/{compositionReference}"),
  post("/renders"),
  get("/renders/{renderReference}"),
  get("/renders/{renderReference}/media", "downloads"),
  get("/renders/{renderReference}/thumbnail", "downloads"),
  get("/rendertokens"),
  post("/orders"),
  get("/orders"),
  get("/orders/{orderReference}"),
  post("/orders/{orderReference}/cancel"),
  { method: "PUT", path: "/orders/{orderReference}/dropship-address" },
  post("/quote"),
  get("/shipments/{shipmentReference}"),
  get("/claimcategories"),
  post("/claim-package-missing"),
  post("/claim-item-issues"),
  get("/claims"),
  get("/claims/{claimReference}"),
  post("/claims/{claimReference}/retract"),
  get("/utilities/lookup-product-reference-by-legacy-sku"),
  get("/utilities/lookup-order-reference-by-custom-identifier"),
];

/** The path with references of resources that do not exist. */
export const filledPath = ({ path }: Endpoint): string =>
  path
    .replace(/\{(\w+)Reference\}/g, (_, name: string) => unknownRef(name.charAt(0).toUpperCase() + name.slice(1)))
    .replace("{filename}", "front.png");

/** The endpoints whose path names a resource. */
export const ofOneResource = endpoints.filter(({ path }) => path.includes("Reference}"));

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
