import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const shipment = {
  reference: ref("Shipment", "1"),
  orders: [{ reference: ref("Order", "1"), orderlines: [{ index: 1, quantity: 2 }] }],
  carrier: "PostNL",
  trackingNumber: "3SABC123",
  trackingUrl: "https://track.example/3SABC123",
  later: { kept: true },
};
const basic = { reference: ref("Shipment", "1"), orders: [{ reference: ref("Order", "1") }] };

describe("shipments (specification 2.10, 4.8)", () => {
  const { exchange, checksResponses } = useExchange();

  it.each([
    ["tracked", shipment],
    ["basic (without carrier or tracking)", basic],
    ["basic (with nulls)", { ...basic, carrier: null, trackingNumber: null, trackingUrl: null }],
  ])("shipments.get sends GET /shipments/{shipmentReference} and unwraps a %s shipment", async (_, wire) => {
    const result = await exchange(
      (partner) => partner.shipments.get(ref("Shipment", "1")),
      { line: `GET /shipments/${ref("Shipment", "1")}` },
      { body: { shipment: wire } },
    );
    expect(result).toStrictEqual(wire);
  });

  checksResponses("shipments.get", {
    call: (partner) => partner.shipments.get(ref("Shipment", "1")),
    wire: { shipment },
    refuses: [
      [["shipment"], missing],
      [["shipment", "reference"], missing],
      [["shipment", "reference"], ref("Order", "1")],
      [["shipment", "orders"], missing],
      [["shipment", "orders"], null],
      [["shipment", "carrier"], 5],
      [["shipment", "trackingNumber"], 3123],
      [["shipment", "trackingUrl"], {}],
    ],
    accepts: [[["shipment", "orders"], []]],
  });
});
