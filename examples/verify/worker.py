"""Places orders once over plain HTTP: `npx pod-partner verify -- python3 worker.py`. Needs Python 3.9, Linux or macOS, and no package."""

import base64
import fcntl
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ["POD_PARTNER_BASE_URL"]
SECRET_KEY = os.environ["POD_PARTNER_SECRET_KEY"]
FILE = os.path.join(os.environ.get("POD_PARTNER_VERIFY_FOLDER", "."), "queue.json")
LOCK = open(f"{FILE}.lock", "w")  # it ends with the process
PROCESSING_TIME = 10  # seconds for which the service may work on an order
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Lost(Exception):
    """There is no response, or none that can be read: the service may have done it."""


def once(method, path, body=None, content_type="application/json"):
    """Sends a request once. Returns the status and the JSON of the response. Raises Lost."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    request = urllib.request.Request(BASE_URL + path, data=data, method=method)
    request.add_header("X-Service-Secret-Key", SECRET_KEY)
    if data is not None:
        request.add_header("Content-Type", content_type)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        if error.code >= 500:
            raise Lost(error.code) from None
        if error.code == 429:
            time.sleep(int(error.headers.get("Retry-After", 1)))
        return error.code, None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Lost(error) from None


def send(method, path, body=None, content_type="application/json"):
    """Repeats what may be repeated, for a minute. Returns the status and the JSON."""
    until = time.time() + 60
    while True:
        try:
            status, found = once(method, path, body, content_type)
            if status != 429 or time.time() > until:
                return status, found
        except Lost:
            if time.time() > until:
                raise
            time.sleep(0.5)


def look_up(identifier, seconds):
    """Looks for an order, for some seconds."""
    until = time.time() + seconds
    query = urllib.parse.urlencode({"customIdentifier": identifier})
    while True:
        status, found = send("GET", f"/utilities/lookup-order-reference-by-custom-identifier?{query}")
        if status == 200:
            return found["orderReference"]
        if time.time() >= until:
            return None
        time.sleep(0.5)


def ensure(order, seconds):
    """Places an order unless it exists."""
    found = look_up(order["customIdentifier"], seconds)
    while found is None:
        try:
            status, made = once("POST", "/orders", {"order": order})
            # A 429 has made nothing. Another look-up would take the next token, too.
            if status == 429:
                continue
            if status >= 400:
                raise SystemExit(f"The order was refused: {status}")
            found = made["order"]["reference"]
        except (Lost, KeyError, TypeError):
            found = look_up(order["customIdentifier"], PROCESSING_TIME)
    return found


def main():
    """Places five orders. The file says which were taken, and one process at a time places them."""
    fcntl.flock(LOCK, fcntl.LOCK_EX)
    taken = []
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as file:
            taken = json.load(file)
    store = next(one for one in send("GET", "/stores")[1]["stores"] if one["integration"] == "api")
    product = next(one for one in send("GET", "/products")[1]["products"] if one["status"] == "launched")
    _, made = send("POST", "/images", base64.b64decode(PNG), "application/octet-stream")
    for quantity in range(1, 6):
        identifier = f"shop-{quantity}"
        # An earlier process may have just sent the order, however long ago it took it.
        seconds = PROCESSING_TIME if identifier in taken else 0
        taken.append(identifier)
        with open(FILE, "w", encoding="utf-8") as file:
            json.dump(taken, file)
        line = {
            "productReference": product["reference"],
            "imageReference": made["image"]["reference"],
            "quantity": quantity,
        }
        order = {
            "customIdentifier": identifier,
            "storeReference": store["reference"],
            "shippingKind": "combined",
            "orderlines": [line],
        }
        print(identifier, ensure(order, seconds), flush=True)


main()
