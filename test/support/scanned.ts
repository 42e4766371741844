const methods = ["filter", "find", "some"] as const;

/** Counts the elements of the arrays on which `filter`, `find` and `some` are called during `run`: what a search through a list costs. */
export async function scanned(run: () => unknown): Promise<number> {
  let elements = 0;
  const originals = methods.map((name) => [name, Array.prototype[name]] as const);
  for (const [name, original] of originals) {
    Object.assign(Array.prototype, {
      [name](this: readonly unknown[], ...given: Parameters<typeof original>) {
        elements += this.length;
        return Reflect.apply(original, this, given);
      },
    });
  }
  try {
    await run();
  } finally {
    for (const [name, original] of originals) Object.assign(Array.prototype, { [name]: original });
  }
  return elements;
}
