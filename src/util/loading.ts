/** Iterates what `open` loads at the start of the iteration. */
export async function* loading<T>(open: () => Promise<AsyncIterable<T>>): AsyncGenerator<T, void, undefined> {
  yield* await open();
}
