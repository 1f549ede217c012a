// The shell evaluates variable values in arithmetic, indexes and prompts, which may run commands.
import type { SyntaxNode } from "unbash";

const number = /^\s*[-+]?\s*\d*\s*$/;
const wholeArray = /^[@*]$|^\d+$/;
const identifier = /^[A-Za-z_]\w*$/;

export const computes = "it computes with variables, which may run commands";
const index = "it uses an index that is computed, which may run commands";

/** Why a part may run more than it shows; null if it does not. */
export function doubtOfPart(node: SyntaxNode): string | null {
	switch (node.type) {
		case "ParameterExpansion": {
			if (node.index !== undefined && !wholeArray.test(node.index.text)) return index;
			// The parser also splits at a slash within a substitution and loses the rest.
			if (node.operation?.type === "Replace" && /\$\(|`|[<>]\(|\$\{\s/.test(node.text)) {
				return "it replaces with a substitution";
			}
			// Within quotes and here-documents, the shell decodes these quotes and runs the substitutions in them.
			if (node.operation?.type === "Default" && node.text.includes("$'")) return "an expansion has quotes of its own";
			if (isAssigned(node) && riskyVariable(node.parameter)) return setsRisky(node.parameter);
			const listsNames = node.operation?.type === "Names" || /^[@*]$/.test(node.index?.text ?? "");
			return node.prefix === "!" && !listsNames ? "it uses a variable that another variable names" : null;
		}
		case "Unknown":
			return "it has an expansion of an unknown kind";
		case "Transform":
			return /^[QULu]$/.test(node.operand.text) ? null : "an expansion evaluates the value of a variable";
		case "Slice":
			return number.test(node.offset.text) && number.test(node.length?.text ?? "") ? null : computes;
		case "ArithmeticExpansion":
			return /[A-Za-z_$`[]/.test(node.text.slice(2)) ? computes : null;
		case "Assignment":
			return node.index === undefined || /^\d+$/.test(node.index.text) ? null : index;
		case "ArrayValue":
			return node.elements.some(({ text }) => /^\[.*\]\+?=/s.test(text)) ? index : null;
		case "TestUnary":
			return /^-[vR]$/.test(node.operator) && !identifier.test(node.operand.text) ? index : null;
		case "TestBinary":
			if (!/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) return null;
			return [node.left, node.right].every(({ text }) => /^[-+]?\d+$/.test(text)) ? null : computes;
		default:
			return null;
	}
}

const mostExpansions = 50;

/** Whether the text may have too many nested expansions; the parsing cost grows with each level. */
export function nestsDeeply(source: string, { pos, end }: { readonly pos: number; readonly end: number }): boolean {
	// Each level takes at least two characters, except for backticks, whose innermost level has the most backslashes.
	if (end - pos < 2 * mostExpansions) return false;
	return (source.slice(pos, end).match(/\$(?:\{(?!\w+\})|[([])/g)?.length ?? 0) > mostExpansions;
}

/** Whether an expansion such as `${NAME:=value}` sets the variable. */
function isAssigned({ text, parameter }: Extract<SyntaxNode, { type: "ParameterExpansion" }>): boolean {
	return /^:?=/.test(text.slice(2 + parameter.length));
}

const risky =
	/^(?:PATH|HOME|ENV|CDPATH|GLOBIGNORE|SHELLOPTS|BASHOPTS|BASH_.*|FUNCNEST|EXECIGNORE|PS[0-4]|PROMPT_.*|FCEDIT|HISTFILE|INPUTRC|SHELL|LD_.*|DYLD_.*|GCONV_PATH|GIT_.*|SSH_ASKPASS|NODE_OPTIONS|NODE_PATH|PYTHON.*|PERL5?.*|RUBY.*|JAVA_TOOL_OPTIONS|.*PAGER|.*EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|.*_CONFIG_PATH)$/;

/** Whether setting this shell variable changes what programs do. */
export function riskyVariable(name: string): boolean {
	return risky.test(name);
}

export function setsRisky(name: string): string {
	return `it sets ${name}, which changes what later commands do`;
}

export function isIdentifier(text: string): boolean {
	return identifier.test(text);
}
