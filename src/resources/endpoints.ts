import type { Endpoint } from "../http/endpoint/endpoint.ts";
import { getAddress } from "./addresses/addresses.endpoints.ts";
import { validateKey } from "./auth/auth.endpoints.ts";
import {
  getLayerImage,
  getProduct,
  getProductMedia,
  listPackagings,
  listProductgroups,
  listProducts,
  lookupProduct,
} from "./catalog/catalog.endpoints.ts";
import {
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "./claims/claims.endpoints.ts";
import { getComposition, lookupComposition } from "./compositions/compositions.endpoints.ts";
import { downloadEvidence, uploadEvidence } from "./evidence/evidence.endpoints.ts";
import { listImages, uploadImage } from "./images/images.endpoints.ts";
import {
  cancelOrder,
  createOrder,
  getOrder,
  listOrders,
  lookupOrder,
  quoteOrder,
  replaceDropshipAddress,
} from "./orders/orders.endpoints.ts";
import { getOrganization, listAccounts, listBrands, listStores } from "./organization/organization.endpoints.ts";
import { getPerspective, listPerspectives } from "./perspectives/perspectives.endpoints.ts";
import { createRender, getRender, getRenderMedia, getRenderThumbnail } from "./renders/renders.endpoints.ts";
import { getRendertokens } from "./rendertokens/rendertokens.endpoints.ts";
import { getScene, listScenes } from "./scenes/scenes.endpoints.ts";
import { getShipment } from "./shipments/shipments.endpoints.ts";
import { listItems } from "./warehouse/warehouse.endpoints.ts";

/**
 * Every endpoint, in the order of the specification. The emulator routes by this list; a test compares it with part 4. It names each
 * endpoint: for `import *` a bundle would contain code that no bundler removes.
 */
export const endpoints: readonly Endpoint[] = [
  validateKey,
  getOrganization,
  listAccounts,
  listBrands,
  listStores,
  getLayerImage,
  getProduct,
  getProductMedia,
  listPackagings,
  listProductgroups,
  listProducts,
  lookupProduct,
  listItems,
  getAddress,
  listImages,
  uploadImage,
  uploadEvidence,
  downloadEvidence,
  getScene,
  listScenes,
  getPerspective,
  listPerspectives,
  getComposition,
  lookupComposition,
  createRender,
  getRender,
  getRenderMedia,
  getRenderThumbnail,
  getRendertokens,
  cancelOrder,
  createOrder,
  getOrder,
  listOrders,
  lookupOrder,
  quoteOrder,
  replaceDropshipAddress,
  getShipment,
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
];
