/** The controls by name, each with a test of its effect. The test fails when the effect is another one. */
export type Effects = Readonly<Record<string, () => Promise<void>>>;
