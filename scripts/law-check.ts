// Holds the source tree against the laws of laws.ts. Tests may do what they like; the laws are about the product.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync } from "oxc-parser";
import { type Law, laws } from "./laws.ts";

export interface LawViolation {
	readonly file: string;
	readonly line: number;
	/** `process.env`, `node:fs` or `fetch`. */
	readonly used: string;
	readonly reason: string;
}

/** What a file uses that a law may be about. */
export interface FileUses {
	/** Relative to the source root. */
	readonly file: string;
	readonly uses: readonly (Use & { readonly line: number })[];
}

/** What every file below `sourceRoot` uses of the process, of modules and of globals. */
export function readUses(sourceRoot: string): FileUses[] {
	return readdirSync(sourceRoot, { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
		.map((file) => {
			const text = readFileSync(path.join(sourceRoot, file), "utf8");
			const uses = usesOf(file, text).filter(({ kind, name }) => laws.some((law) => forbids(law, kind, name)));
			return { file, uses: uses.map((use) => ({ ...use, line: text.slice(0, use.start).split("\n").length })) };
		});
}

/** Every use that one of these laws does not allow. */
export function findLawViolations(files: readonly FileUses[], held: readonly Law[] = laws): LawViolation[] {
	return files.flatMap(({ file, uses }) => {
		const binding = held.filter(({ places, exceptions = {} }) => !isIn(file, [...places, ...Object.keys(exceptions)]));
		return uses.flatMap(({ kind, name, line }) => {
			const law = binding.find((each) => forbids(each, kind, name));
			if (law === undefined) return [];
			const used = kind === "member" ? `process.${name}` : name;
			return [{ file, line, used, reason: `only ${law.places.join(" and ")} may ${law.what}` }];
		});
	});
}

function isIn(file: string, places: readonly string[]): boolean {
	return places.some((place) => (place.endsWith("/") ? file.startsWith(place) : file === place));
}

type Kind = "member" | "module" | "global";

interface Use {
	readonly kind: Kind;
	readonly name: string;
	readonly start: number;
}

function forbids({ members = [], modules = [], globals = [] }: Law, kind: Kind, name: string): boolean {
	switch (kind) {
		case "member":
			return members.includes(name);
		case "module":
			return modules.some((module) => name === module || name.startsWith(`${module}/`));
		case "global":
			return globals.includes(name);
	}
}

interface Node {
	readonly type: string;
	readonly start: number;
	readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

const named = (node: unknown, name?: string): boolean =>
	isNode(node) && node.type === "Identifier" && (name === undefined || node["name"] === name);

/** What the file uses of the process, of modules and of globals that it does not declare itself. */
function usesOf(file: string, text: string): Use[] {
	const uses: Use[] = [];
	const declared = new Set<unknown>();
	const visit = (node: unknown, parent: Node | null, key: string): void => {
		if (Array.isArray(node)) {
			for (const child of node) visit(child, parent, key);
			return;
		}
		if (!isNode(node)) return;
		// Types vanish.
		if (node.type.startsWith("TS") && !node.type.endsWith("Expression")) return;
		uses.push(...usesAt(node));
		if (node.type === "Identifier" && parent !== null) {
			if (isDeclaration(parent, key)) declared.add(node["name"]);
			else if (!isPropertyName(parent, key)) {
				uses.push({ kind: "global", name: String(node["name"]), start: node.start });
			}
		}
		for (const [childKey, child] of Object.entries(node)) visit(child, node, childKey);
	};
	visit(parseSync(file, text).program, null, "");
	return uses.filter(({ kind, name }) => kind !== "global" || !declared.has(name));
}

function usesAt(node: Node): Use[] {
	const { type, start } = node;
	if (type === "MemberExpression" && named(node["object"], "process") && isNode(node["property"])) {
		return [{ kind: "member", name: String(node["property"]["name"] ?? node["property"]["value"]), start }];
	}
	if (type === "MemberExpression" && named(node["object"], "globalThis") && isNode(node["property"])) {
		return [{ kind: "global", name: String(node["property"]["name"] ?? node["property"]["value"]), start }];
	}
	if (type === "VariableDeclarator" && named(node["init"], "process") && isNode(node["id"])) {
		const properties = node["id"]["properties"];
		return (Array.isArray(properties) ? properties : []).flatMap((property: unknown) =>
			isNode(property) && isNode(property["key"])
				? [{ kind: "member" as const, name: String(property["key"]["name"]), start }]
				: [],
		);
	}
	const isImport = type === "ImportDeclaration" || type === "ImportExpression" || type === "ExportNamedDeclaration";
	if (isImport && node["importKind"] !== "type" && isNode(node["source"])) {
		return [{ kind: "module", name: String(node["source"]["value"]), start }];
	}
	return [];
}

/** Whether an identifier at this place of its parent gives something a name. */
function isDeclaration({ type }: Node, key: string): boolean {
	if (key === "params" || key === "local") return true;
	if (key === "id") return true;
	if (type === "Property") return key === "value";
	return type === "AssignmentPattern" && key === "left";
}

function isPropertyName(parent: Node, key: string): boolean {
	if (parent.type === "MemberExpression") return key === "property" && parent["computed"] !== true;
	return key === "key" || key === "imported" || key === "exported";
}
