import * as z from "zod/mini";
import { endpoint } from "../../http/endpoint.ts";
import {
  getLayerImage,
  getProduct,
  getProductMedia,
  listPackagings,
  listProductgroups,
  listProducts,
  lookupProduct,
  type Product,
  type ProductDetail,
} from "../../resources/catalog/catalog.endpoints.ts";
import { listItems } from "../../resources/warehouse/warehouse.ts";
import { isRecord } from "../../util/foreign.ts";
import { drawn } from "../base/pictures.ts";
import { found, Problem } from "../base/problem.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { fileResponse, immutable, revalidated } from "../http/respond.ts";
import {
  each,
  named,
  only,
  type Promised,
  pages,
  type Route,
  rawRoute,
  referenceOnly,
  route,
  whole,
} from "../http/route.ts";
import { availableProduct, hasLayers, layerFile } from "../rules/catalog.ts";
import { toTimestamp, type World } from "../state/world.ts";

/**
 * 2.6. The print specifications of an announced product may be incomplete (3.3), and so may its stock: null in the list, and left out of
 * the detail.
 */
const productFields = named("reference", "name", "status", "legacyItemSKU");
const incomplete = ["availableQuantity", "layersModified", "printModified"];
const listed = only({ ...productFields, ...named(...incomplete) });
const listedAnnounced = only({ ...productFields, ...Object.fromEntries(incomplete.map((name) => [name, () => null])) });
const detail = { ...productFields, weightGrams: whole, media: each(only({})) };
const detailed = only({
  ...detail,
  ...named(...incomplete),
  layers: only(named("modified")),
  print: only(named("modified")),
});
const isAnnounced = (value: unknown): boolean => isRecord(value) && value.status === "announced";
const promisedProduct: Promised = (value) => (isAnnounced(value) ? listedAnnounced(value) : listed(value));
const promisedDetail: Promised = (value) => (isAnnounced(value) ? only(detail)(value) : detailed(value));

/** The specification shows no path of layer images, so this is the emulator's own. */
const getLayerFile = endpoint({
  call: getLayerImage.call,
  method: "GET",
  path: "/products/{productReference}/layers/{filename}",
  response: { kind: "binary" },
  repeat: "safe",
});

/** The cache headers of product media, which are all promised (4.3). */
const ofExample = { cacheControl: revalidated, promised: ["Cache-Control", "ETag", "Last-Modified"] } as const;
const ofRender = { cacheControl: immutable, promised: ["Cache-Control"] } as const;

/**
 * The pictures of a product by file name. A replaced example image keeps its name. A replaced render gets a new one, because clients
 * may cache a render for a year.
 */
function mediaOf({ name, media: { example, render } }: StoredProduct) {
  const renderFile = render.version === 1 ? "render.png" : `render-${render.version}.png`;
  const examplePicture = example.version === 1 ? `${name}/example.png` : `${name}/example.png/${example.version}`;
  return new Map([
    ["example.png", { ...example, ...ofExample, picture: examplePicture, width: 480, height: 640 }],
    [renderFile, { ...render, ...ofRender, picture: `${name}/${renderFile}`, width: 600, height: 800 }],
  ]);
}

const toProduct = (product: StoredProduct): Product => ({
  reference: product.reference,
  name: product.name,
  status: product.status,
  availableQuantity: product.availableQuantity,
  layersModified: toTimestamp(product.layersModified),
  printModified: toTimestamp(product.printModified),
  legacyItemSKU: product.legacyItemSKU,
});

const urlOf = (world: World, product: StoredProduct, file: string): string =>
  `${world.settings.baseUrl}/products/${product.reference}/${file}`;

function toDetail(world: World, product: StoredProduct): ProductDetail {
  const listed = toProduct(product);
  const layers = {
    modified: toTimestamp(product.layersModified),
    images: hasLayers(product) ? [{ name: "base", url: urlOf(world, product, `layers/${layerFile}`) }] : [],
  };
  return {
    ...listed,
    layers,
    print: { modified: toTimestamp(product.printModified) },
    weightGrams: product.weightGrams,
    media: Array.from(mediaOf(product).keys(), (filename) => ({
      filename,
      url: urlOf(world, product, `media/${filename}`),
    })),
  };
}

export const catalogRoutes: readonly Route[] = [
  route(listProducts, {
    models: "products in every stage, printed and not printed, by pages",
    options: ["pageSize"],
    controls: ["updateProduct"],
    query: pages,
    promises: promisedProduct,
    handle: ({ world, query }) => {
      const { items, nextCursor } = world.products.page(query?.cursor, ({ status }) => status !== "archived");
      return { items: items.map(toProduct), nextCursor };
    },
  }),
  route(getProduct, {
    models: "detail, media and layer images; 410 for an archived product",
    controls: ["updateProduct", "replaceMedia"],
    promises: promisedDetail,
    handle: ({ world, path }) => toDetail(world, availableProduct(world, path.productReference)),
  }),
  rawRoute(getProductMedia, {
    models: "an example image that is revalidated, and an example render that is cached for a year",
    controls: ["replaceMedia"],
    handle: ({ world, path, request }) => {
      const product = availableProduct(world, path.productReference);
      const file = found(mediaOf(product).get(path.filename), `Media ${path.filename}`);
      const { picture, width, height, cacheControl, modified, promised } = file;
      const bytes = drawn(picture, width, height, product.name);
      return fileResponse(world, request, { bytes, type: "image/png", cacheControl, modified, promised });
    },
  }),
  rawRoute(getLayerFile, {
    models: "ETag, Last-Modified and 304",
    controls: ["updateProduct"],
    handle: ({ world, path, request }) => {
      const product = availableProduct(world, path.productReference);
      if (path.filename !== layerFile || !hasLayers(product)) {
        throw new Problem("not_found", `Layer image ${path.filename} does not exist`);
      }
      const bytes = drawn(`${product.name}/${product.layersModified}`, 240, 320);
      return fileResponse(world, request, {
        bytes,
        type: "image/png",
        cacheControl: world.settings.assumptions.layerCacheControl,
        modified: product.layersModified,
        promised: ["ETag", "Last-Modified"],
      });
    },
  }),
  route(lookupProduct, {
    models: "the product of a legacy SKU",
    query: { legacyItemSku: () => z.string() },
    // 4.10
    promises: whole,
    handle: ({ world, query }) => {
      const sku = query?.legacyItemSku;
      const product = world.products.all().find(({ legacyItemSKU }) => legacyItemSKU === sku);
      return found(product, `A product with the legacy SKU ${sku}`).reference;
    },
  }),
  route(listProductgroups, {
    models: "the productgroups that the organization sees, one of them private",
    promises: referenceOnly,
    handle: ({ world }) => world.productgroups.map(({ reference, name }) => ({ reference, name })),
  }),
  route(listPackagings, {
    models: "two packagings of the organization",
    promises: referenceOnly,
    handle: ({ world }) => world.packagings,
  }),
];

export const warehouseRoutes: readonly Route[] = [
  route(listItems, {
    models: "items of the demo organization, by pages; one item has several products",
    options: ["pageSize"],
    controls: ["setStock"],
    query: pages,
    promises: only({
      ...named("reference", "sku", "logicalQuantity", "physicalQuantity"),
      products: each(referenceOnly),
    }),
    handle: ({ world, query }) => {
      const { items, nextCursor } = world.items.page(query?.cursor);
      return {
        items: items.map(({ reference, sku, logicalQuantity, physicalQuantity, products }) => ({
          reference,
          sku,
          logicalQuantity,
          physicalQuantity,
          products: products.map((product) => ({ reference: product })),
        })),
        nextCursor,
      };
    },
  }),
];
