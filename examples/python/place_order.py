"""Places an order over plain HTTP, reads it, checks its shape, and cancels it. Needs Python 3.9 and no package.

Start the emulator, or use the service's test environment, and set POD_PARTNER_BASE_URL (it ends in /v2) and POD_PARTNER_SECRET_KEY.
"""

import json
import os
import re
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib

BASE_URL = os.environ.get("POD_PARTNER_BASE_URL", "").rstrip("/")
SECRET_KEY = os.environ.get("POD_PARTNER_SECRET_KEY", "")
REFERENCE = "{}_[0123456789abcdefghjkmnpqrstvwxyz]{{26}}"


class Refused(Exception):
    """A 4xx response, with the service's error object."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body['code']}: {body['message']}")
        self.status = status
        self.code = body["code"]


def send(method, path, body=None, content_type="application/json"):
    """Sends a request. Waits when a rate limit is exceeded. Returns the JSON of the response, or None for 204."""
    for _ in range(5):
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        request = urllib.request.Request(BASE_URL + path, data=data, method=method)
        request.add_header("X-Service-Secret-Key", SECRET_KEY)
        if data is not None:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            refused = Refused(error.code, json.load(error))
            if refused.code != "rate_limited":
                raise refused from None
            time.sleep(int(error.headers["Retry-After"]))
    raise refused


def pages(path, name):
    """Yields every item of a paginated list."""
    cursor = None
    while True:
        query = "" if cursor is None else "?" + urllib.parse.urlencode({"cursor": cursor})
        page = send("GET", path + query)
        yield from page[name]
        cursor = page["nextCursor"]
        if cursor is None:
            return


def picture():
    """Makes a PNG of one white pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def check(name, value, expected):
    """Exits when a value is not of a type, or does not match a pattern."""
    fits = re.fullmatch(expected, str(value)) if isinstance(expected, str) else isinstance(value, expected)
    if not fits:
        sys.exit(f"{name}: expected {expected}, got {value!r}")


def place():
    """Places an order of one launched product, with an image if the product is printed. Returns its reference."""
    store = next(store for store in send("GET", "/stores")["stores"] if store["integration"] == "api")
    product = next(product for product in pages("/products", "products") if product["status"] == "launched")
    line = {"productReference": product["reference"], "quantity": 2, "annotations": [{"key": "row", "value": "7"}]}
    order = {
        "storeReference": store["reference"],
        "shippingKind": "dropship",
        "customIdentifier": f"python-{uuid.uuid4()}",
        "dropshipAddress": {
            "firstname": "Ada",
            "lastname": "Lovelace",
            "streetname": "Damrak",
            "housenumber": "1",
            "zipcode": "1012LG",
            "city": "Amsterdam",
            "countryCode": "NL",
            "email": "ada@shop.example",
        },
        "orderlines": [line],
    }
    try:
        return send("POST", "/orders", {"order": order})["order"]["reference"]
    except Refused as refused:
        if refused.code != "missing_image_reference":
            raise
    line["imageReference"] = send("POST", "/images", picture(), "application/octet-stream")["image"]["reference"]
    return send("POST", "/orders", {"order": order})["order"]["reference"]


def read(reference):
    """Reads an order and checks the fields that the specification shows (2.4, 2.5)."""
    order = send("GET", f"/orders/{reference}")["order"]
    check("reference", order["reference"], REFERENCE.format("Order"))
    check("status", order["status"], dict)
    check("onHold", order["onHold"], (dict, type(None)))
    check("dropshipAddressReference", order["dropshipAddressReference"], REFERENCE.format("Address"))
    check("legacyOrderCode", order["legacyOrderCode"], r".+-\d+")
    for number, line in enumerate(order["orderlines"], start=1):
        check("productReference", line["productReference"], REFERENCE.format("Product"))
        check("legacySku", line["legacySku"], str)
        check("index", line["index"], str(number))
        for field in ("quantity", "canceledQuantity", "shippedQuantity"):
            check(field, line[field], int)
        for annotation in line["annotations"]:
            check("key", annotation["key"], str)
            check("value", annotation["value"], str)
    return order


def main():
    if not BASE_URL or not SECRET_KEY:
        sys.exit("Set POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.")
    try:
        print("key:", send("POST", "/auth/validate")["message"])
        reference = place()
        print("placed:", reference)
        lines = read(reference)["orderlines"]
        print("read:", ", ".join(f"{line['quantity']} of {line['legacySku']}" for line in lines))
        totals = [{"index": line["index"], "canceledQuantity": line["quantity"]} for line in lines]
        send("POST", f"/orders/{reference}/cancel", {"orderlines": totals})
        print("canceled:", read(reference)["orderlines"][0]["canceledQuantity"])
    except Refused as refused:
        sys.exit(str(refused))


main()
