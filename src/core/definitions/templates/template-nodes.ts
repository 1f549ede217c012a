import { type Expression, ExpressionError } from "./template-expression.ts";

export type TemplateNode =
	| { readonly kind: "text"; readonly text: string; readonly line: number }
	| { readonly kind: "value"; readonly expression: Expression; readonly line: number }
	| { readonly kind: "if"; readonly branches: readonly Branch[] }
	| {
			readonly kind: "for";
			readonly name: string;
			readonly list: Expression;
			readonly body: readonly TemplateNode[];
			readonly line: number;
	  }
	| { readonly kind: "include"; readonly name: string; readonly line: number };

export interface Branch {
	readonly condition: Expression;
	readonly body: readonly TemplateNode[];
	readonly line: number;
}

export class TemplateError extends Error {
	override readonly name = "TemplateError";
	readonly file: string;
	/** Counted from 1; 0 for the whole file. */
	readonly line: number;
	/** A clause without a full stop. */
	readonly reason: string;

	constructor(file: string, line: number, reason: string, cause?: unknown) {
		super(`${file}${line === 0 ? "" : `, line ${line}`}: ${reason}`, { cause });
		this.file = file;
		this.line = line;
		this.reason = reason;
	}
}

/** Adds the place to an expression error; returns other errors unchanged. */
export function located(thrown: unknown, file: string, line: number): unknown {
	return thrown instanceof ExpressionError ? new TemplateError(file, line, thrown.message, thrown) : thrown;
}
