// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are written so.
import { describe, expect, it } from "vitest";
import { ExpressionError, parseExpression, type TemplateValue } from "./template-expression.ts";

const scope = new Map<string, TemplateValue>([
	["NAME", "kim"],
	["EMPTY", ""],
	["LIST", ["a", "b"]],
	["person", { name: "ada", tools: [] }],
]);

const refusal = (source: string): string => {
	try {
		parseExpression(source)(scope);
	} catch (thrown) {
		if (thrown instanceof ExpressionError) return thrown.message;
		throw thrown;
	}
	throw new Error(`${source} was not refused`);
};

describe("expressions", () => {
	it.each<[string, TemplateValue]>([
		["NAME", "kim"],
		[" NAME ", "kim"],
		["'single'", "single"],
		['"${NAME}"', "${NAME}"],
		["1.5", 1.5],
		["true", true],
		["False", false],
		["none", null],
		["person.name", "ada"],
		["NAME == 'kim'", true],
		["NAME != 'kim'", false],
		["'a' in LIST", true],
		["'c' not in LIST", true],
		["'i' in NAME", true],
		["'name' in person", true],
		["not EMPTY", true],
		["not person.tools", true],
		["EMPTY or NAME", "kim"],
		["EMPTY and MISSING", ""],
		["NAME or MISSING", "kim"],
		["true or false and false", true],
		["(true or false) and false", false],
		["not NAME == 'x'", true],
		["MISSING is defined", false],
		["MISSING is not defined", true],
		["person.name is defined and NAME is defined", true],
		["person.age is defined", false],
	])("%s", (source, value) => {
		expect(parseExpression(source)(scope)).toEqual(value);
	});

	it.each([
		["MISSING", "the variable 'MISSING' is not defined"],
		["person.age", "the variable 'person.age' is not defined"],
		["person.constructor", "the variable 'person.constructor' is not defined"],
		["NAME.length", "the variable 'NAME.length' is not defined"],
		["", "'' is not complete"],
		["NAME ==", "'NAME ==' is not complete"],
		["NAME NAME", "'NAME' is not expected in 'NAME NAME'"],
		["NAME | upper", "'NAME | upper' is not understood"],
		["(NAME", "'(NAME' is not complete"],
		["NAME is odd", "'odd' is not expected in 'NAME is odd'"],
		["NAME not 'x'", "'x' is not expected in 'NAME not 'x''"],
		["and", "'and' is not expected in 'and'"],
		["person.'name'", "'name' is not expected in 'person.'name''"],
	])("refuses: %s", (source, reason) => {
		expect(refusal(source)).toBe(reason);
	});
});
