/** How many letters must be inserted, removed or replaced to make one word of another (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** A longer name is not a typing error, and comparing it takes time. */
const longest = 64;

/** The name that a misspelt one most likely stands for: at most a third of its letters differ, whatever their case. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > longest) return undefined;
  const letters = name.toLowerCase();
  let best: string | undefined;
  let least = Math.floor(name.length / 3) + 1;
  for (const known of names) {
    const away = distance(letters, known.toLowerCase());
    if (away < least) [best, least] = [known, away];
  }
  return best;
}
