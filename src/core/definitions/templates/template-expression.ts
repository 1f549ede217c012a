// Compiles template expressions to functions of a scope: comparisons, `and`, `or`, `not`, `in`, `is defined`.
import { createTextSearch } from "../../../base/text/text-search.ts";

export type TemplateValue = string | number | boolean | null | readonly TemplateValue[] | TemplateMap;

type TemplateMap = { readonly [key: string]: TemplateValue };

export type Scope = Pick<ReadonlyMap<string, TemplateValue>, "get">;

/** Maximum expression length in characters: parsing and evaluation recurse as deep as its parentheses. */
const lengthLimit = 1000;

export type Expression = (scope: Scope) => TemplateValue;

/** Thrown for an expression that cannot be parsed or evaluated; the message is a clause without a full stop. */
export class ExpressionError extends Error {
	override readonly name = "ExpressionError";
}

interface Token {
	readonly kind: "name" | "number" | "text" | "sign";
	readonly text: string;
}

const tokenPattern = /\s*(?:([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|"([^"]*)"|'([^']*)'|(==|!=|[().]))/y;
const words = new Set(["and", "or", "not", "in", "is"]);
const constants: ReadonlyMap<string, TemplateValue> = new Map<string, TemplateValue>([
	["true", true],
	["True", true],
	["false", false],
	["False", false],
	["none", null],
	["None", null],
]);

export function parseExpression(source: string): Expression {
	if (source.length > lengthLimit) throw new ExpressionError(`an expression is longer than ${lengthLimit} characters`);
	const tokens = toTokens(source);
	let position = 0;

	const peek = (): Token | null => tokens[position] ?? null;
	const take = (text: string): boolean => {
		const next = peek();
		if (next === null || next.kind === "text" || next.text !== text) return false;
		position += 1;
		return true;
	};
	const refuse = (): never => {
		const next = peek();
		throw new ExpressionError(
			next === null ? `'${source.trim()}' is not complete` : `'${next.text}' is not expected in '${source.trim()}'`,
		);
	};

	const parsePath = (name: string): readonly string[] => {
		const keys = [name];
		while (take(".")) {
			const next = peek();
			if (next?.kind !== "name") return refuse();
			position += 1;
			keys.push(next.text);
		}
		return keys;
	};

	const parsePrimary = (): Expression => {
		if (take("(")) {
			const inner = parseOr();
			return take(")") ? inner : refuse();
		}
		const token = peek();
		if (token === null || token.kind === "sign" || (token.kind === "name" && words.has(token.text))) return refuse();
		position += 1;
		if (token.kind === "text") return () => token.text;
		if (token.kind === "number") return () => Number(token.text);
		const constant = constants.get(token.text);
		if (constant !== undefined) return () => constant;
		const keys = parsePath(token.text);
		if (!take("is")) return (scope) => requireValue(keys, scope);
		const isNegated = take("not");
		if (!take("defined")) return refuse();
		return (scope) => (findValue(keys, scope) === undefined) === isNegated;
	};

	const parseComparison = (): Expression => {
		const left = parsePrimary();
		if (take("==")) return compare(left, parsePrimary(), (a, b) => a === b);
		if (take("!=")) return compare(left, parsePrimary(), (a, b) => a !== b);
		if (take("in")) return compare(left, parsePrimary(), isIn);
		if (take("not")) return take("in") ? compare(left, parsePrimary(), (a, b) => !isIn(a, b)) : refuse();
		return left;
	};

	const parseNot = (): Expression => {
		if (!take("not")) return parseComparison();
		const inner = parseNot();
		return (scope) => !isTruthy(inner(scope));
	};

	const parseAnd = (): Expression => {
		const left = parseNot();
		if (!take("and")) return left;
		const right = parseAnd();
		return (scope) => {
			const value = left(scope);
			return isTruthy(value) ? right(scope) : value;
		};
	};

	const parseOr = (): Expression => {
		const left = parseAnd();
		if (!take("or")) return left;
		const right = parseOr();
		return (scope) => {
			const value = left(scope);
			return isTruthy(value) ? value : right(scope);
		};
	};

	const expression = parseOr();
	return position === tokens.length ? expression : refuse();
}

export function isTruthy(value: TemplateValue): boolean {
	if (Array.isArray(value)) return value.length > 0;
	if (isMap(value)) return Object.keys(value).length > 0;
	return Boolean(value);
}

function isMap(value: TemplateValue | undefined): value is TemplateMap {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toTokens(source: string): Token[] {
	const tokens: Token[] = [];
	const trimmed = source.trimEnd();
	for (let position = 0; position < trimmed.length; position = tokenPattern.lastIndex) {
		tokenPattern.lastIndex = position;
		const match = tokenPattern.exec(trimmed);
		if (match === null) throw new ExpressionError(`'${trimmed.trim()}' is not understood`);
		const [, name, number, double, single, sign] = match;
		if (name !== undefined) tokens.push({ kind: "name", text: name });
		else if (number !== undefined) tokens.push({ kind: "number", text: number });
		else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
		else tokens.push({ kind: "text", text: double ?? single ?? "" });
	}
	return tokens;
}

function findValue([name = "", ...keys]: readonly string[], scope: Scope): TemplateValue | undefined {
	return keys.reduce<TemplateValue | undefined>((value, key) => {
		return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
	}, scope.get(name));
}

function requireValue(keys: readonly string[], scope: Scope): TemplateValue {
	const value = findValue(keys, scope);
	if (value === undefined) throw new ExpressionError(`the variable '${keys.join(".")}' is not defined`);
	return value;
}

function compare(
	left: Expression,
	right: Expression,
	holds: (left: TemplateValue, right: TemplateValue) => boolean,
): Expression {
	return (scope) => holds(left(scope), right(scope));
}

function isIn(item: TemplateValue, whole: TemplateValue): boolean {
	if (typeof whole === "string") return typeof item === "string" && createTextSearch(item)(whole, 0) !== -1;
	if (Array.isArray(whole)) return whole.includes(item);
	return isMap(whole) && typeof item === "string" && Object.hasOwn(whole, item);
}
