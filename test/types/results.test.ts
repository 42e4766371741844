import type {
  Address,
  ApiError,
  Claim,
  ClaimSummary,
  ConditionalOptions,
  Download,
  NotModified,
  Order,
  OrderSummary,
  Paginator,
  PodPartner,
  PrintImage,
  Product,
  ProductDetail,
  ProductReference,
  Render,
  Rendertokens,
  RequestOptions,
  Shipment,
  WarehouseItem,
} from "pod-partner";
import { describe, expectTypeOf, it } from "vitest";
import type { ErrorCode, KnownErrorCode } from "../../src/errors/api.ts";

type Result<Method extends (...input: never[]) => unknown> = Awaited<ReturnType<Method>>;
type Item_<List> = List extends AsyncIterable<infer One> ? One : never;
type Products = PodPartner["catalog"]["products"];

describe("the types of results", () => {
  it("are those of the specification's resources", () => {
    expectTypeOf<Result<PodPartner["orders"]["get"]>>().toEqualTypeOf<Order>();
    expectTypeOf<Result<Products["get"]>>().toEqualTypeOf<ProductDetail>();
    expectTypeOf<Result<Products["lookup"]>>().toEqualTypeOf<ProductReference>();
    expectTypeOf<Result<PodPartner["renders"]["get"]>>().toEqualTypeOf<Render>();
    expectTypeOf<Result<PodPartner["renders"]["wait"]>>().toExtend<Render>();
    expectTypeOf<Result<PodPartner["rendertokens"]["get"]>>().toEqualTypeOf<Rendertokens>();
    expectTypeOf<Result<PodPartner["shipments"]["get"]>>().toEqualTypeOf<Shipment>();
    expectTypeOf<Result<PodPartner["claims"]["get"]>>().toEqualTypeOf<Claim>();
    expectTypeOf<Result<PodPartner["claims"]["retract"]>>().toEqualTypeOf<void>();
    expectTypeOf<Result<PodPartner["addresses"]["get"]>["countryCode"]>().toEqualTypeOf<Address["countryCode"]>();
  });

  it("include null where the specification allows it", () => {
    expectTypeOf<Order["onHold"]>().toExtend<{ readonly reason: string } | null>();
    expectTypeOf<null>().toExtend<Order["onHold"]>();
    expectTypeOf<ProductDetail["weightGrams"]>().toEqualTypeOf<number | null>();
    expectTypeOf<null>().toExtend<Claim["decision"]>();
    expectTypeOf<null>().toExtend<Claim["claimlines"][number]["decision"]>();
    expectTypeOf<Claim["retracted"]>().toEqualTypeOf<string | null>();
    expectTypeOf<ClaimSummary["decided"]>().toEqualTypeOf<string | null>();
  });

  it("keep strict enums closed and open ones open", () => {
    expectTypeOf<Render["status"]>().toEqualTypeOf<"pending" | "completed" | "failed">();
    expectTypeOf<string>().toExtend<Product["status"]>();
    expectTypeOf<string>().toExtend<Claim["status"]>();
    expectTypeOf<"launched">().toExtend<Product["status"]>();
    expectTypeOf<Order["status"]["code"]>().toEqualTypeOf<string | null | undefined>();
  });

  it("include the response when the call is one request", () => {
    const call = {} as ReturnType<PodPartner["orders"]["get"]>;
    expectTypeOf(call).toExtend<Promise<Order>>();
    expectTypeOf<Awaited<ReturnType<typeof call.withResponse>>["data"]>().toEqualTypeOf<Order>();
    expectTypeOf<Awaited<ReturnType<typeof call.withResponse>>["response"]>().toEqualTypeOf<Response>();
  });
});

declare const media: Products["media"];
/** For the compiler: none of it is run. */
const conditional = (reference: ProductReference, options: ConditionalOptions) => media(reference, "a.png", options);
const unconditional = (reference: ProductReference, options: RequestOptions) => media(reference, "a.png", options);

describe("the types of downloads", () => {
  it("include an unchanged file only when the call names an earlier download", () => {
    expectTypeOf<Result<typeof conditional>>().toEqualTypeOf<Download | NotModified>();
    expectTypeOf<Result<typeof unconditional>>().toEqualTypeOf<Download>();
  });
});

describe("the types of lists", () => {
  it("are paginators of their items", () => {
    expectTypeOf<ReturnType<PodPartner["orders"]["list"]>>().toEqualTypeOf<Paginator<OrderSummary>>();
    expectTypeOf<ReturnType<Products["list"]>>().toEqualTypeOf<Paginator<Product>>();
    expectTypeOf<ReturnType<PodPartner["claims"]["list"]>>().toEqualTypeOf<Paginator<ClaimSummary>>();
    expectTypeOf<ReturnType<PodPartner["images"]["list"]>>().toEqualTypeOf<Paginator<PrintImage>>();
    expectTypeOf<ReturnType<PodPartner["warehouse"]["items"]["list"]>>().toEqualTypeOf<Paginator<WarehouseItem>>();
  });

  it("have items, arrays of items and pages of items", () => {
    type Orders = ReturnType<PodPartner["orders"]["list"]>;
    expectTypeOf<Item_<Orders>>().toEqualTypeOf<OrderSummary>();
    expectTypeOf<Result<Orders["toArray"]>>().toEqualTypeOf<OrderSummary[]>();
    expectTypeOf<Item_<ReturnType<Orders["pages"]>>["items"]>().toEqualTypeOf<readonly OrderSummary[]>();
    expectTypeOf<Item_<ReturnType<Orders["pages"]>>["nextCursor"]>().toEqualTypeOf<string | null>();
  });
});

describe("the types of errors", () => {
  it("include the codes of specification 7", () => {
    expectTypeOf<KnownErrorCode>().toEqualTypeOf<
      | "missing_address"
      | "missing_image_reference"
      | "invalid_address_missing_email"
      | "invalid_address_denied_country"
      | "product_not_orderable"
      | "store_not_writable_via_api"
      | "canceled_quantity_below_current"
      | "canceled_quantity_exceeds_shippable"
      | "already_in_production"
      | "order_completed"
      | "order_not_dropship"
      | "replacement_address_locked"
      | "order_not_in_shipment"
      | "orderline_not_in_shipment"
      | "package_missing_category_not_allowed"
      | "evidence_required"
      | "shipment_too_recent"
      | "rendertoken_limit_exceeded"
      | "rate_limited"
      | "unknown_input_error"
    >();
  });

  it("accept unknown codes of future versions", () => {
    expectTypeOf<KnownErrorCode>().toExtend<ErrorCode>();
    expectTypeOf<string>().toExtend<ErrorCode>();
    expectTypeOf<ApiError["code"]>().toEqualTypeOf<ErrorCode | undefined>();
    expectTypeOf<ApiError["status"]>().toEqualTypeOf<number>();
  });
});
