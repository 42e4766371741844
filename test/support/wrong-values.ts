/** An object whose every use throws. */
const throwingProxy = () => {
  const trap = () => {
    throw new Error("the proxy throws");
  };
  return new Proxy(
    {},
    { get: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap, getPrototypeOf: trap, set: trap },
  );
};

const revokedProxy = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** An object with one getter, which throws. */
export const throwing = (name: string): object =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get: () => {
      throw new Error(`the getter of ${name} throws`);
    },
  });

class Instance {
  readonly own = 1;
}

const cyclic = () => {
  const circle: Record<string, unknown> = {};
  circle.circle = circle;
  return circle;
};

/** So deep that code that walks through it overflows the stack. */
function deep(step: (inner: unknown) => unknown): unknown {
  let value: unknown = {};
  for (let depth = 0; depth < 50_000; depth++) value = step(value);
  return value;
}

const large = 100_000;

/** Values that a JavaScript program passes by mistake. Each is made when it is used. */
export const wrongValues: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  text: () => "text",
  "empty text": () => "",
  number: () => 5,
  NaN: () => Number.NaN,
  boolean: () => true,
  bigint: () => 5n,
  symbol: () => Symbol("wrong"),
  function: () => () => 1,
  array: () => [1, "two", null],
  "empty object": () => ({}),
  "without prototype": () => Object.create(null),
  instance: () => new Instance(),
  Headers: () => new Headers({ a: "b" }),
  Map: () => new Map([["a", "b"]]),
  "invalid Date": () => new Date(Number.NaN),
  Error: () => new Error("wrong"),
  promise: () => Promise.resolve(1),
  signal: () => new AbortController().signal,
  "getter throws": () => throwing("signal"),
  "proxy throws": throwingProxy,
  "revoked proxy": revokedProxy,
  cyclic,
  "deep object": () => deep((inner) => ({ inner })),
  "deep array": () => deep((inner) => [inner]),
  "100 kB of text": () => "x".repeat(large),
  "100 kB of JSON": () => JSON.stringify({ text: "x".repeat(large) }),
  "100 kB of base64": () => `/9j/${"A".repeat(large)}`,
  "2,000 items": () => Array.from({ length: 2_000 }, () => 1),
  "2,000 fields": () => Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field${index}`, 1])),
  "100 kB as a name": () => ({ ["x".repeat(large)]: 1 }),
};
