// Renders a parsed prompt template. Limits output and work, because a small template can produce an unlimited amount of both.
import path from "node:path";
import { type Expression, isTruthy, type Scope, type TemplateValue } from "./template-expression.ts";
import { located, TemplateError, type TemplateNode } from "./template-nodes.ts";
import { nestingLimit } from "./template-parser.ts";

const textLimit = 1024 * 1024;

/** Maximum rendering steps: one per node, plus one per thousand characters of a variable that is read. */
const stepLimit = 50_000;

export function renderParts(parts: ReadonlyMap<string, readonly TemplateNode[]>, main: string, values: Scope): string {
	const pieces: string[] = [];
	let length = 0;
	let steps = 0;

	const spend = (count: number, file: string, line: number): void => {
		steps += count;
		if (steps > stepLimit) {
			throw new TemplateError(file, line, `the prompt takes more than ${stepLimit} steps; take out loops or includes`);
		}
	};
	const add = (text: string, file: string, line: number): void => {
		length += text.length;
		if (length > textLimit) {
			throw new TemplateError(
				file,
				line,
				`the prompt grows longer than ${textLimit} characters; take out loops, includes or variables`,
			);
		}
		pieces.push(text);
	};
	const evaluate = (expression: Expression, file: string, line: number, scope: Scope): TemplateValue => {
		const counted: Scope = {
			get(name) {
				const value = scope.get(name);
				spend(1 + sizeOf(value) / 1000, file, line);
				return value;
			},
		};
		try {
			return expression(counted);
		} catch (thrown) {
			throw located(thrown, file, line);
		}
	};
	const render = (nodes: readonly TemplateNode[], file: string, scope: Scope, depth: number): void => {
		for (const node of nodes) renderNode(node, file, scope, depth);
	};
	const renderNode = (node: TemplateNode, file: string, scope: Scope, depth: number): void => {
		const line = node.kind === "if" ? (node.branches[0]?.line ?? 0) : node.line;
		spend(1, file, line);
		if (depth > nestingLimit) {
			throw new TemplateError(file, line, `blocks and includes nest more than ${nestingLimit} deep`);
		}
		switch (node.kind) {
			case "text":
				add(node.text, file, line);
				return;
			case "value": {
				const value = evaluate(node.expression, file, line, scope);
				if (typeof value === "object" && value !== null) {
					throw new TemplateError(file, line, "the value is a list or a map, not a string");
				}
				add(String(value ?? ""), file, line);
				return;
			}
			case "if": {
				const branch = node.branches.find((each) => isTruthy(evaluate(each.condition, file, each.line, scope)));
				if (branch !== undefined) render(branch.body, file, scope, depth + 1);
				return;
			}
			case "for": {
				const list = evaluate(node.list, file, line, scope);
				if (!Array.isArray(list)) throw new TemplateError(file, line, "a loop needs a list");
				for (const item of list) {
					spend(1, file, line);
					render(node.body, file, withItem(scope, node.name, item), depth + 1);
				}
				return;
			}
			case "include": {
				const included = path.resolve(path.dirname(main), node.name);
				render(parts.get(included) ?? [], included, scope, depth + 1);
				return;
			}
		}
	};
	render(parts.get(main) ?? [], main, values, 0);
	return pieces.join("");
}

function withItem(scope: Scope, name: string, item: TemplateValue): Scope {
	return { get: (wanted) => (wanted === name ? item : scope.get(wanted)) };
}

function sizeOf(value: TemplateValue | undefined): number {
	return typeof value === "string" || Array.isArray(value) ? value.length : 0;
}
