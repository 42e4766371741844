/**
 * The client, its resources, their types, and the errors.
 *
 * @module pod-partner
 */

import { assertRuntime } from "./util/runtime.ts";

export type { Bytes, Download, DownloadOptions, NotModified, Progress as DownloadProgress } from "./binary/download.ts";
export type { PictureSize } from "./binary/picture.ts";
export type { ImageSource, NodeStream } from "./binary/source.ts";
export type { UploadProgress, UploadWatch } from "./binary/upload.ts";
export type {
  ChangesOptions,
  FieldOf,
  KindOf,
  ListChange,
  ListChanges,
  ListSnapshot,
  Referenced,
  SnapshotCell,
} from "./changes/list-changes.ts";
export { PodPartner } from "./client.ts";
export type { ApiErrorDetails, ErrorCode, KnownErrorCode } from "./errors/api.ts";
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  GoneError,
  NotFoundError,
  NotImplementedError,
  NotReadyError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  RendertokenLimitError,
  ServerError,
} from "./errors/api.ts";
export type { TimelineEntry } from "./errors/base.ts";
export { PodPartnerError, UnexpectedError } from "./errors/base.ts";
export { ConnectionError, DeadlineError, RequestTimeoutError } from "./errors/connection.ts";
export { FileError } from "./errors/file.ts";
export type { ComparedLine, ComparedOrder, OrderDifference } from "./errors/orders.ts";
export { OrderMismatchError, OutcomeUnknownError } from "./errors/orders.ts";
export { RenderFailedError, TokenBudgetError, WaitTimeoutError } from "./errors/renders.ts";
export type { ErrorResponse } from "./errors/response.ts";
export { AlreadyReadError, CursorLoopError, ResponseTooLargeError } from "./errors/response.ts";
export { DamagedStorageError, StorageError } from "./errors/storage.ts";
export type { Issue } from "./errors/validation.ts";
export { ConfigurationError, RequestValidationError, ResponseValidationError } from "./errors/validation.ts";
export type { ListPage, Method } from "./http/endpoint.ts";
export type {
  Hooks,
  InvalidResponseEvent,
  PauseEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  StorageBackEvent,
  StorageLostEvent,
  UnreadDownloadEvent,
} from "./http/events.ts";
export type { FetchLike } from "./http/fetch-transport.ts";
export type { Logger } from "./http/logger.ts";
export type { RateLimit, RateLimits } from "./http/pacing/forecast.ts";
export type { Priority } from "./http/pacing/queue.ts";
export type { JoinFleet } from "./http/pacing/tokens.ts";
export type { PauseReason } from "./http/pacing/wait.ts";
export type {
  HeadersInput,
  QueryValue,
  RequestOptions,
  RetryOptions,
} from "./http/request-options.ts";
export type { ResponseMode } from "./http/response.ts";
export type { ApiCall, WhenLost, WithResponse } from "./http/send.ts";
export type { CallTrace, CallTracer } from "./http/tracing.ts";
export type { SendRequest } from "./http/transport.ts";
export type { PacingOptions, PodPartnerOptions } from "./options.ts";
export type { ListResource } from "./pagination/list-resource.ts";
export type { ListOptions, Paginator } from "./pagination/paginator.ts";
export type { CallDefaults } from "./parts.ts";
export type {
  AccountReference,
  AddressReference,
  BrandReference,
  ClaimcategoryReference,
  ClaimReference,
  CompositionReference,
  EvidenceReference,
  ImageReference,
  ItemReference,
  OrderReference,
  PackagingReference,
  PerspectiveReference,
  ProductgroupReference,
  ProductReference,
  Reference,
  ReferenceKind,
  RenderReference,
  SceneReference,
  ShipmentReference,
  StoreReference,
} from "./references/references.ts";
export { isReference, parseReference } from "./references/references.ts";
export type { AddressesResource } from "./resources/addresses/addresses.ts";
export type { AuthResource, KeyValidation } from "./resources/auth/auth.ts";
export type {
  KnownProductStatus,
  Modified as ProductModified,
  Packaging,
  Product,
  ProductDetail,
  Productgroup,
  ProductStatus,
} from "./resources/catalog/catalog.endpoints.ts";
export type { CatalogResource } from "./resources/catalog/catalog.ts";
export type { ConditionalOptions, UnconditionalOptions } from "./resources/catalog/conditional.ts";
export type { ProductChangesOptions, ProductsResource } from "./resources/catalog/products.ts";
export type {
  Claim,
  Claimcategory,
  ClaimcategorySummary,
  ClaimDecision,
  Claimline,
  ClaimlineDecision,
  ClaimlineInput,
  ClaimStatus,
  ClaimSummary,
  FiledClaim,
  ItemIssuesInput,
  KnownClaimStatus,
  PackageMissingInput,
} from "./resources/claims/claims.endpoints.ts";
export type { ClaimListOptions, ClaimsResource } from "./resources/claims/claims.ts";
export type { ClaimOptions } from "./resources/claims/file.ts";
export type { Composition, CompositionParts } from "./resources/compositions/compositions.endpoints.ts";
export type { CompositionsResource } from "./resources/compositions/compositions.ts";
export type { CompositionSearch, FoundComposition } from "./resources/compositions/search.ts";
export type { Evidence, EvidenceResource } from "./resources/evidence/evidence.ts";
export type { PrintImage } from "./resources/images/images.endpoints.ts";
export type { ImagesResource } from "./resources/images/images.ts";
export type { UploadedImage } from "./resources/images/upload-once.ts";
export type { ExactRow, GetMany, Later, ManyOptions, MapRows, RowMapping, Rows } from "./resources/many.ts";
export type { CanceledRemainder, OrderProgress } from "./resources/orders/change.ts";
export { isOpen } from "./resources/orders/change.ts";
export type {
  Annotation,
  Cancellation,
  CombinedOrderInput,
  CombinedQuoteInput,
  DropshipOrderInput,
  DropshipQuoteInput,
  Order,
  OrderHold,
  OrderInput,
  Orderline,
  OrderlineInput,
  OrderStatus,
  OrderSummary,
  QuoteInput,
  QuoteLineInput,
  ShippingLevel,
  ShippingOption,
} from "./resources/orders/orders.endpoints.ts";
export type { OrdersResource } from "./resources/orders/orders.ts";
export type { EnsureManyOptions, EnsureOptions, IdentifiedOrderInput, PlacedOrder } from "./resources/orders/place.ts";
export type {
  Account,
  Brand,
  Organization,
  OrganizationResource,
  Store,
} from "./resources/organization/organization.ts";
export type {
  Perspective,
  PerspectiveListOptions,
  PerspectiveOutput,
  PerspectiveSummary,
  PerspectivesResource,
} from "./resources/perspectives/perspectives.ts";
export type {
  BatchDownload,
  BatchOptions,
  BatchProgress,
  CombinedComposition,
  CompletedMockup,
  KnownComposition,
  MockupFailure,
  MockupInput,
  MockupLimit,
  MockupOf,
  MockupOutcome,
  MockupProblem,
  MockupSkipped,
  ReferencedImage,
  RenderedMockup,
  SavedMockup,
  SourceImage,
} from "./resources/renders/batch.schema.ts";
export type { RenderFileOptions, WaitOptions } from "./resources/renders/render-waiting.ts";
export type {
  CreatedRender,
  Render,
  RenderFile,
  RenderInput,
  RenderStatus,
} from "./resources/renders/renders.endpoints.ts";
export type { RendersResource } from "./resources/renders/renders.ts";
export type { Rendertokens, RendertokensResource } from "./resources/rendertokens/rendertokens.ts";
export type { AnyRequestOptions, StandardResult, StandardSchema } from "./resources/request-any.ts";
export type { Scene, SceneListOptions, SceneSummary, ScenesResource } from "./resources/scenes/scenes.ts";
export { type Shipment, type ShipmentsResource, shipmentsIn } from "./resources/shipments/shipments.ts";
export type { ImageUploadOptions, UploadOptions } from "./resources/upload.ts";
export type { ItemsResource, WarehouseItem, WarehouseResource } from "./resources/warehouse/warehouse.ts";
export type { Address, AddressInput, CompleteAddress, QuoteAddressInput } from "./schemas/address.ts";
export type { AssumedCall, Assumptions, MeasuredAssumptions, NoOrder } from "./schemas/assumptions.ts";
export type { OpenEnum, OpenRecord } from "./schemas/shape.ts";
export type { StorageHealth } from "./storage/client-storage.ts";
export type { KeyValueStorage, StorageExpectation, StorageSetOptions } from "./storage/contract.ts";
export type { MemoryStorageOptions } from "./storage/memory.ts";
export { memoryStorage } from "./storage/memory.ts";
export type { PartnerClock } from "./util/clock.ts";
export type { Outcome } from "./util/concurrency.ts";
export type { Overrides } from "./util/fields.ts";

assertRuntime();
