/** What a partner's code may throw. Each of these has broken an error path before. */
export const thrownValues: Readonly<Record<string, () => unknown>> = {
  "an error whose message is not a string": () => Object.assign(new Error("x"), { message: 5 }),
  "an error whose name is not a string": () => Object.assign(new Error("x"), { name: Symbol("name") }),
  "an error whose stack is not a string": () => Object.assign(new Error("x"), { stack: { frames: [] } }),
  "an error whose code is an object": () => Object.assign(new Error("x"), { code: {} }),
  "an error without a message": () => new Error(""),
  "an error whose message throws": () => throwing("message"),
  "an error whose name throws": () => throwing("name"),
  "an error whose stack throws": () => throwing("stack"),
  "an error whose code throws": () => throwing("code"),
  "an error whose cause throws": () => throwing("cause"),
  "an error that is its own cause": () => {
    const error: Error = new Error("round");
    error.cause = error;
    return error;
  },
  "an aggregate whose errors throw": () => trapped(new AggregateError([]), "errors"),
  "an empty aggregate": () => Object.assign(new AggregateError([]), { errors: null }),
  "a proxy whose every trap throws": () => new Proxy(new Error("x"), traps),
  "a revoked proxy": () => revoked(new Error("x")),
  "an error whose cause is a revoked proxy": () => new Error("x", { cause: revoked({}) }),
  "an object whose tag throws": () => trapped({}, Symbol.toStringTag),
  "an object without a prototype": () => Object.create(null),
  "an object whose `then` throws": () => trapped({}, "then"),
  "a frozen error": () => Object.freeze(new Error("cold")),
  "a symbol": () => Symbol("thrown"),
  "a bigint": () => 5n,
  "a function": () => () => undefined,
  null: () => null,
  undefined: () => undefined,
  "an empty string": () => "",
};

const bomb: PropertyDescriptor = {
  configurable: true,
  get: () => {
    throw new Error("the getter throws");
  },
};

const trapped = (target: object, name: PropertyKey): object => Object.defineProperty(target, name, bomb);
const throwing = (name: string) => trapped(new Error("x"), name);

const trap = () => {
  throw new Error("the trap throws");
};
const traps: ProxyHandler<object> = { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, set: trap };

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const streamOf = (chunk: unknown): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.enqueue(chunk) });

/** What a `fetch` may return instead of a Response. */
export const noResponses: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  "a string": () => "OK",
  "an empty object": () => ({}),
  "an object with only a status": () => ({ status: 200 }),
  "a status that is a string": () => ({ status: "200", ok: true, headers: new Headers(), body: null }),
  "headers that are a plain object": () => ({ status: 200, ok: true, headers: { date: "today" }, body: null }),
  "headers that throw": () => trapped({ status: 200, ok: true, body: null }, "headers"),
  "a body that is a string": () => ({ status: 200, ok: true, headers: new Headers(), body: "{}" }),
  "a body that throws": () => trapped({ status: 200, ok: true, headers: new Headers() }, "body"),
  "a proxy of a Response": () => new Proxy(new Response("{}"), {}),
  "a revoked proxy": () => revoked(new Response("{}")),
  "a Response.error()": () => Response.error(),
  "a Response whose body was already read": () => {
    const response = new Response("{}");
    void response.text();
    return response;
  },
  "a Response whose body yields strings": () => new Response(streamOf("{}")),
  "a Response whose body yields no bytes": () => new Response(streamOf({ byteLength: -1 })),
  "a Response whose body throws a revoked proxy": () =>
    new Response(new ReadableStream({ pull: () => Promise.reject(revoked({})) })),
};
