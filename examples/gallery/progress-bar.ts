/** Draws the progress into the terminal. Without a terminal, as in a log, it draws nothing. */
export function drawProgress(done: number, total: number, words: string): void {
  const { stderr } = process;
  if (!stderr.isTTY) return;
  const width = Math.max(10, Math.min(40, stderr.columns - words.length - 20));
  const full = Math.round((width * done) / total);
  stderr.write(`\r\u001b[K${"█".repeat(full)}${"░".repeat(width - full)} ${done} of ${total}, ${words}`);
  if (done === total) stderr.write("\n");
}

const began = performance.now();

/** How long the rest takes at the present pace, for the words of the progress: `, about 12 s left`. */
export function timeLeft(done: number, total: number): string {
  const seconds = ((performance.now() - began) / 1_000 / done) * (total - done);
  return done === 0 || done === total ? "" : `, about ${Math.ceil(seconds)} s left`;
}
