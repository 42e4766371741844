import {
  getProduct,
  getProductMedia,
  listPackagings,
  listProductgroups,
  listProducts,
  lookupProduct,
} from "../../resources/catalog/catalog.endpoints.ts";
import type { Product, ProductDetail } from "../../resources/catalog/catalog.schema.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { found } from "../http/problem.ts";
import { fileResponse, immutable, revalidated } from "../http/respond.ts";
import { type Route, rawRoute, route } from "../http/route.ts";
import { drawn } from "../pictures/drawn.ts";
import { availableProduct, hasLayers, layerFile } from "../rules/catalog.ts";
import { toTimestamp, type World } from "../state/world.ts";

/** A product's pictures: an uploaded example, which can be replaced, and a render, which cannot. */
const media = {
  "example.png": { cacheControl: revalidated, width: 480, height: 640 },
  "render.png": { cacheControl: immutable, width: 600, height: 800 },
} as const;

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
    modified: listed.layersModified,
    images: hasLayers(product) ? [{ name: "base", url: urlOf(world, product, `layers/${layerFile}`) }] : [],
  };
  return {
    ...listed,
    layers,
    print: { modified: listed.printModified },
    weightGrams: product.weightGrams,
    media: Object.keys(media).map((filename) => ({
      filename,
      url: urlOf(world, product, `media/${filename}`),
    })),
  };
}

export const catalogRoutes: readonly Route[] = [
  route(listProducts, ({ world, query }) => {
    const { items, nextCursor } = world.products.page(query?.cursor, ({ status }) => status !== "archived");
    return { items: items.map(toProduct), nextCursor };
  }),
  route(getProduct, ({ world, path }) => toDetail(world, availableProduct(world, path.productReference))),
  rawRoute(getProductMedia, ({ world, path, request }) => {
    const product = availableProduct(world, path.productReference);
    const entry = found(new Map(Object.entries(media)).get(path.filename), `Media ${path.filename}`);
    const bytes = drawn(`${product.name}/${path.filename}`, entry.width, entry.height);
    return fileResponse(request, {
      bytes,
      type: "image/png",
      cacheControl: entry.cacheControl,
      modified: product.printModified,
    });
  }),
  route(lookupProduct, ({ world, query }) => {
    const sku = query?.legacyItemSku;
    const product = world.products.all().find(({ legacyItemSKU }) => legacyItemSKU === sku);
    return found(product, `A product with the legacy SKU ${sku}`).reference;
  }),
  route(listProductgroups, ({ world }) => world.productgroups.map(({ reference, name }) => ({ reference, name }))),
  route(listPackagings, ({ world }) => world.packagings),
];
