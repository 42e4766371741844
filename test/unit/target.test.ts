import { expect, it } from "vitest";
import { targetOf } from "../../src/node/target.ts";

/** The same, from the URL parser alone. */
function parsed(text: string) {
  const { protocol, hostname, port, pathname, search } = new URL(text);
  return { protocol, hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port, path: pathname + search };
}

it.each([
  "http://127.0.0.1:8080/v2/orders/Order_0?limit=1&q=a%20b",
  "http://127.0.0.1:8080/v2/orders/.%2e/keys",
  "http://127.0.0.1:8080/v2/../keys?x=..",
  "http://127.0.0.1:8080/v2/a%2fb/./c",
  "http://127.0.0.1:8080/v2/it's?q=it's",
  "http://127.0.0.1:8080/v2/ä b\tc?q=ä|^`{}",
  "http://127.0.0.1:8080/v2\\orders#part",
  "http://127.0.0.1:8080/v2/orders?",
  "http://127.0.0.1:8080/v2/orders??",
  "http://127.0.0.1:8080",
  "https://SHOP.example/v2//orders",
  "https://shop.example.org/v2/orders",
  "https://shop.example:443/v2/orders?",
  "https://shop.example:8443/v2/orders;a=1?b=/../c",
  "http://[::1]:8080/v2/orders",
])("the target of %s is that of the URL parser, also right after another URL of its origin", (url) => {
  const { origin } = new URL(url);
  targetOf(`${origin}/first`);
  expect(targetOf(url)).toEqual(parsed(url));
  expect(targetOf(url)).toEqual(parsed(url));
});

it("the target of a URL of another origin is not that of the latest one", () => {
  targetOf("http://shop.example/v2");
  expect(targetOf("http://shop.example.org/v2")).toEqual(parsed("http://shop.example.org/v2"));
  expect(targetOf("http://shop.example:81/v2")).toEqual(parsed("http://shop.example:81/v2"));
});
