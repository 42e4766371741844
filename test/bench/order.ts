/** The response of the servers in the benchmarks: an order as in the specification. */
export const order = JSON.stringify({
  order: {
    reference: `Order_${"0".repeat(26)}`,
    status: { code: "open" },
    orderlines: [
      {
        index: 1,
        productReference: `Product_${"0".repeat(26)}`,
        imageReference: `Image_${"0".repeat(26)}`,
        quantity: 2,
        canceledQuantity: 0,
        shippedQuantity: 0,
        annotations: [{ key: "shop", value: "42" }],
        legacySku: "SKU-1",
      },
    ],
    onHold: null,
    dropshipAddressReference: `Address_${"0".repeat(26)}`,
    legacyOrderCode: "shop-1",
  },
});
