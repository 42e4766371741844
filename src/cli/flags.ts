/** A flag without a value. */
export interface Switch {
  readonly help: string;
}

/** A flag with a value. */
export interface Flag<Value> extends Switch {
  /** What the value is, for the help: `number`. */
  readonly placeholder: string;
  /** What the value must be, for the message about an invalid one. */
  readonly expected: string;
  /** Returns undefined for an invalid value. */
  readonly read: (text: string) => Value | undefined;
}

/** The flags of a command, by their names without dashes. */
export type Flags = Readonly<Record<string, Switch | Flag<unknown>>>;

/** The values of the given flags. A switch is true. */
export type Values<Known extends Flags> = {
  readonly [Name in keyof Known]?: Known[Name] extends Flag<infer Value> ? Value : true;
};

export const takesValue = (flag: Switch | Flag<unknown>): flag is Flag<unknown> => "read" in flag;

/** A whole number from `least` to `most`. */
export const wholeNumber = (help: string, { least = 0, most = Number.MAX_SAFE_INTEGER, placeholder = "number" } = {}) =>
  ({
    help,
    placeholder,
    expected:
      most === Number.MAX_SAFE_INTEGER
        ? `a whole number, at least ${least}`
        : `a whole number from ${least} to ${most}`,
    read: (text: string) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  }) satisfies Flag<number>;

/** A text of at least one character. */
export const text = (help: string, placeholder: string) =>
  ({
    help,
    placeholder,
    expected: "a text that is not empty",
    read: (value: string) => (value.trim() === "" ? undefined : value.trim()),
  }) satisfies Flag<string>;

/** A decimal number, at least 0. */
export const decimal = (help: string) =>
  ({
    help,
    placeholder: "number",
    expected: "a number, at least 0",
    read: (value: string) => {
      const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      return Number.isFinite(number) ? number : undefined;
    },
  }) satisfies Flag<number>;
