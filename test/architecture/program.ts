import { fileURLToPath } from "node:url";
import ts from "typescript";
import tsconfig from "../../tsconfig.json" with { type: "json" };

export const root = fileURLToPath(new URL("../../", import.meta.url));
const { options } = ts.convertCompilerOptionsFromJson(tsconfig.compilerOptions, root);

/** The source of the client. It takes seconds to read: what needs it is in one test file. */
export const program = ts.createProgram([`${root}src/index.ts`], options);
export const checker = program.getTypeChecker();
