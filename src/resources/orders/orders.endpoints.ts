import * as z from "zod/mini";
import { assumed, cursor, endpoint, field, json, nothing, page } from "../../http/endpoint.ts";
import { reference } from "../../references/schema.ts";
import { type CompleteAddress, completeAddressInput } from "../../schemas/address.ts";
import { type Assumptions, assumptions } from "../../schemas/assumptions.ts";
import { filledText } from "../../schemas/shape.ts";
import { createdOrder, type OrderInput, orderInput } from "./order-input.schema.ts";
import { type Cancellation, cancellations, order, orderSummary } from "./orders.schema.ts";
import { type QuoteInput, quoteInput, shippingOption } from "./quote.schema.ts";

export const createOrder = endpoint({
  call: "orders.create",
  method: "POST",
  path: "/orders",
  request: json<OrderInput>("order", orderInput),
  response: field("order", createdOrder),
  repeat: "recoverable",
});

export const listOrders = endpoint({
  call: "orders.list",
  method: "GET",
  path: "/orders",
  query: cursor,
  response: page("orders", orderSummary),
  repeat: "safe",
});

export const getOrder = endpoint({
  call: "orders.get",
  method: "GET",
  path: "/orders/{orderReference}",
  response: field("order", order),
  repeat: "safe",
});

export const cancelOrder = endpoint({
  call: "orders.cancel",
  method: "POST",
  path: "/orders/{orderReference}/cancel",
  request: json<readonly Cancellation[]>("orderlines", cancellations),
  response: nothing,
  repeat: "idempotent",
});

export const replaceDropshipAddress = endpoint({
  call: "orders.replaceDropshipAddress",
  method: "PUT",
  path: "/orders/{orderReference}/dropship-address",
  request: json<CompleteAddress>("dropshipAddress", completeAddressInput),
  response: nothing,
  repeat: "idempotent",
});

export const quoteOrder = endpoint({
  call: "orders.quote",
  method: "POST",
  path: "/quote",
  request: json<QuoteInput>("quote", quoteInput),
  response: field("shippingOptions", () => z.array(shippingOption())),
  repeat: "safe",
});

export const lookupOrderBy = ({ customIdentifierParameter, orderReferenceField }: Assumptions) =>
  endpoint({
    call: "orders.lookup",
    method: "GET",
    path: "/utilities/lookup-order-reference-by-custom-identifier",
    query: { [customIdentifierParameter]: filledText },
    response: assumed(
      field(orderReferenceField, () => reference("Order")),
      orderReferenceIn,
    ),
    repeat: "safe",
  });

/** Finds the order reference in a response without the assumed field: in `reference`, `order.reference` or `order`. */
function orderReferenceIn(body: unknown): unknown {
  const response: Readonly<Record<string, unknown>> = Object(body);
  const order: Readonly<Record<string, unknown>> = Object(response.order);
  return response.reference ?? order.reference ?? response.order;
}

export const lookupOrder = lookupOrderBy(assumptions);
