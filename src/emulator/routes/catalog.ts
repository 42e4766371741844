import {
  getProduct,
  getProductMedia,
  listPackagings,
  listProductgroups,
  listProducts,
  lookupProduct,
  type Product,
  type ProductDetail,
} from "../../resources/catalog/catalog.endpoints.ts";
import { drawn } from "../base/pictures.ts";
import { found } from "../base/problem.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { fileResponse, immutable, revalidated } from "../http/respond.ts";
import { type Route, rawRoute, route } from "../http/route.ts";
import { availableProduct, hasLayers, layerFile } from "../rules/catalog.ts";
import { toTimestamp, type World } from "../state/world.ts";

/**
 * The pictures of a product by file name. A replaced example image keeps its name. A replaced render gets a new one, because clients
 * may cache a render for a year.
 */
function mediaOf({ name, media: { example, render } }: StoredProduct) {
  const renderFile = render.version === 1 ? "render.png" : `render-${render.version}.png`;
  const examplePicture = example.version === 1 ? `${name}/example.png` : `${name}/example.png/${example.version}`;
  return new Map([
    ["example.png", { ...example, picture: examplePicture, cacheControl: revalidated, width: 480, height: 640 }],
    [renderFile, { ...render, picture: `${name}/${renderFile}`, cacheControl: immutable, width: 600, height: 800 }],
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
  route(listProducts, ({ world, query }) => {
    const { items, nextCursor } = world.products.page(query?.cursor, ({ status }) => status !== "archived");
    return { items: items.map(toProduct), nextCursor };
  }),
  route(getProduct, ({ world, path }) => toDetail(world, availableProduct(world, path.productReference))),
  rawRoute(getProductMedia, ({ world, path, request }) => {
    const product = availableProduct(world, path.productReference);
    const file = found(mediaOf(product).get(path.filename), `Media ${path.filename}`);
    const { picture, width, height, cacheControl, modified } = file;
    return fileResponse(request, { bytes: drawn(picture, width, height), type: "image/png", cacheControl, modified });
  }),
  route(lookupProduct, ({ world, query }) => {
    const sku = query?.legacyItemSku;
    const product = world.products.all().find(({ legacyItemSKU }) => legacyItemSKU === sku);
    return found(product, `A product with the legacy SKU ${sku}`).reference;
  }),
  route(listProductgroups, ({ world }) => world.productgroups.map(({ reference, name }) => ({ reference, name }))),
  route(listPackagings, ({ world }) => world.packagings),
];
