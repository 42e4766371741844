/** Makes a value at the first call, and returns the same value at each later call. */
export function lazily<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
