import {
	checkAll,
	checkAny,
	checkContains,
	checkDependentSchemas,
	checkIf,
	checkItems,
	checkNot,
	checkOne,
	checkProperties,
	checkPropertyNames,
	checkRestOfItems,
	checkRestOfNames,
} from "./schema-applicators.ts";
import {
	checkDependentRequired,
	checkItemCount,
	checkLongest,
	checkNameCount,
	checkNumber,
	checkOneOfValues,
	checkPattern,
	checkRequired,
	checkShortest,
	checkType,
	checkUnique,
	isMultiple,
	isObject,
	jsonTypes,
	type PatternSlot,
} from "./schema-assertions.ts";
import { type Check, fits, type SchemaNode } from "./schema-node.ts";
import { longestAddress, maximumAddresses, References, type Resource } from "./schema-references.ts";
import { type Place, shorten, toPath } from "./schema-run.ts";
import { type Draft, keywordFault, schemasBelow } from "./schema-shapes.ts";

export class SchemaFault extends Error {
	override readonly name = "SchemaFault";

	constructor(place: Place | null, fault: string) {
		super(`schema${shorten(toPath(place))} ${fault}`);
	}
}

export interface ReadSchema {
	readonly root: SchemaNode;
	/** Patterns to compile before the first validation, each with the place of its first use. */
	readonly patterns: readonly { readonly slot: PatternSlot; readonly place: Place }[];
}

export function readSchema(schema: unknown, draft: Draft): ReadSchema {
	const reader = new SchemaReader(draft);
	const root = reader.readRoot(schema);
	return { root, patterns: reader.patterns };
}

interface OpenReference {
	readonly target: { node: SchemaNode | null };
	readonly reference: string;
	readonly resource: Resource;
	readonly place: Place;
}

/** Meta-schemas accept any value: a tool that takes a schema as an argument need not have it validated. */
const metaSchema = /^https?:\/\/json-schema\.org\/(?:draft|schema)\b/;

type Schema = Readonly<Record<string, unknown>>;

const toTexts = (value: unknown): readonly string[] =>
	Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

class SchemaReader {
	readonly patterns: { slot: PatternSlot; place: Place }[] = [];
	readonly #draft: Draft;
	readonly #nodes = new Map<unknown, SchemaNode>();
	readonly #slots = new Map<string, PatternSlot>();
	readonly #references = new References();
	readonly #open: OpenReference[] = [];
	readonly #dynamic: OpenReference[] = [];

	constructor(draft: Draft) {
		this.#draft = draft;
	}

	readRoot(schema: unknown): SchemaNode {
		const resource = this.#references.open(schema, "", null);
		if (resource === null) throw new SchemaFault(null, "has no base");
		const root = this.#read(schema, null, resource);
		for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
			const { target, reference, place } = next;
			const found = this.#references.find(reference, next.resource);
			if (found === null && metaSchema.test(reference)) {
				target.node = this.#read(true, place, next.resource);
				continue;
			}
			if (found === null && this.#references.resolved > maximumAddresses) {
				throw new SchemaFault(place, `is one of more than ${maximumAddresses} addresses, which are too many`);
			}
			if (found === null) throw new SchemaFault(place, `leads to nothing in the schema: "${shorten(reference)}"`);
			target.node = this.#read(found.schema, place, found.resource);
		}
		const ambiguous = this.#dynamic.find(({ reference }) => this.#references.isAmbiguous(reference));
		if (ambiguous !== undefined) {
			throw new SchemaFault(ambiguous.place, "leads to a schema or another by the way there, which is not supported");
		}
		return root;
	}

	#read(schema: unknown, place: Place | null, outer: Resource): SchemaNode {
		const known = this.#nodes.get(schema);
		if (known !== undefined) return known;
		if (typeof schema !== "boolean" && !isObject(schema)) throw new SchemaFault(place, "must be object,boolean");
		const node: SchemaNode = { checks: [], asksForRest: false };
		this.#nodes.set(schema, node);
		if (schema === false) node.checks.push((_value, at, run) => run.fail(at, "boolean schema is false"));
		else if (schema !== true) this.#readKeywords(schema, node, place, outer);
		return node;
	}

	#readKeywords(schema: Schema, node: SchemaNode, place: Place | null, outer: Resource): void {
		for (const [keyword, value] of Object.entries(schema)) {
			const fault = keywordFault(this.#draft, keyword, value);
			if (fault !== null) throw new SchemaFault({ parent: place, key: keyword }, fault);
		}
		const resource = this.#readNames(schema, place, outer);
		const below = new Map<unknown, SchemaNode>();
		for (const [keyword, value] of Object.entries(schema)) {
			for (const [keys, inner] of schemasBelow(this.#draft, keyword, value)) {
				const at = keys.reduce<Place>((parent, key) => ({ parent, key }), { parent: place, key: keyword });
				below.set(inner, this.#read(inner, at, resource));
			}
		}
		const find = (inner: unknown): SchemaNode => {
			const found = below.get(inner);
			if (found === undefined) throw new SchemaFault(place, "is not what it was");
			return found;
		};
		node.checks.push(
			...this.#readTypes(schema),
			...this.#readReferences(schema, place, resource),
			...readValues(schema),
			...this.#readPattern(schema, place),
			...readCombinations(schema, find),
			...this.#readItems(schema, find),
			...this.#readProperties(schema, place, find),
			...this.#readRest(schema, find),
		);
		node.asksForRest = this.#draft === "newest" && ("unevaluatedItems" in schema || "unevaluatedProperties" in schema);
	}

	#readNames(schema: Schema, place: Place | null, outer: Resource): Resource {
		const { $id, $anchor, $dynamicAnchor } = schema;
		let resource = outer;
		if (typeof $id === "string" && !$id.startsWith("#")) {
			const opened = this.#references.open(schema, $id, outer);
			if (opened === null) {
				throw new SchemaFault(
					{ parent: place, key: "$id" },
					`must be an address of at most ${longestAddress} characters, one of at most ${maximumAddresses} in the schema`,
				);
			}
			resource = opened;
		} else if (typeof $id === "string") this.#references.addAnchor(outer, $id.slice(1), schema, false);
		if (typeof $anchor === "string") this.#references.addAnchor(resource, $anchor, schema, false);
		if (typeof $dynamicAnchor === "string") this.#references.addAnchor(resource, $dynamicAnchor, schema, true);
		return resource;
	}

	#readTypes({ type, nullable }: Schema): Check[] {
		const written = toTexts(Array.isArray(type) ? type : [type]);
		const types = jsonTypes.filter((name) => written.includes(name) || (name === "null" && nullable === true));
		// In source order, for readable messages.
		types.sort((one, other) => position(written, one) - position(written, other));
		return written.length === 0 ? [] : [checkType(types)];
	}

	#readReferences({ $ref, $dynamicRef }: Schema, place: Place | null, resource: Resource): Check[] {
		const checks: Check[] = [];
		for (const [key, reference] of [
			["$ref", $ref],
			["$dynamicRef", $dynamicRef],
		] as const) {
			if (typeof reference !== "string" || (key === "$dynamicRef" && this.#draft === "older")) continue;
			const target: OpenReference["target"] = { node: null };
			const at = { parent: place, key };
			const open: OpenReference = { target, reference, resource, place: at };
			this.#open.push(open);
			if (key === "$dynamicRef") this.#dynamic.push(open);
			checks.push((value, where, run, evaluated) => {
				if (target.node === null) throw new Error("A reference was not resolved.");
				return fits(target.node, value, where, run, evaluated);
			});
		}
		return checks;
	}

	#toSlot(source: string, place: Place): PatternSlot {
		const known = this.#slots.get(source);
		if (known !== undefined) return known;
		const slot: PatternSlot = { source, pattern: null };
		this.#slots.set(source, slot);
		this.patterns.push({ slot, place });
		return slot;
	}

	#readPattern({ pattern }: Schema, place: Place | null): Check[] {
		if (typeof pattern !== "string") return [];
		return [checkPattern(this.#toSlot(pattern, { parent: place, key: "pattern" }))];
	}

	#readItems(schema: Schema, find: (inner: unknown) => SchemaNode): Check[] {
		const { items, additionalItems, prefixItems, contains, minContains, maxContains } = schema;
		const checks: Check[] = [];
		const isNewest = this.#draft === "newest";
		const first: unknown = isNewest ? prefixItems : items;
		const list: readonly unknown[] = Array.isArray(first) ? first : [];
		const rest = !isNewest && Array.isArray(items) ? additionalItems : items;
		if (list.length > 0 || rest !== undefined) {
			const node = rest === undefined ? null : rest === false ? false : find(rest);
			checks.push(checkItems({ first: list.map(find), rest: node }));
		}
		if (contains !== undefined) {
			const least = isNewest && typeof minContains === "number" ? minContains : 1;
			checks.push(
				checkContains(find(contains), least, isNewest && typeof maxContains === "number" ? maxContains : null),
			);
		}
		return checks;
	}

	#readProperties(schema: Schema, place: Place | null, find: (inner: unknown) => SchemaNode): Check[] {
		const { properties, patternProperties, additionalProperties, propertyNames, dependencies } = schema;
		const checks: Check[] = [];
		const entries = (value: unknown) => (isObject(value) ? Object.entries(value) : []);
		if (properties !== undefined || patternProperties !== undefined || additionalProperties !== undefined) {
			const patternsAt = { parent: place, key: "patternProperties" };
			checks.push(
				checkProperties({
					named: new Map(entries(properties).map(([name, inner]) => [name, find(inner)])),
					matching: entries(patternProperties).map(([source, inner]) => [
						this.#toSlot(source, { parent: patternsAt, key: source }),
						find(inner),
					]),
					additional:
						additionalProperties === undefined
							? null
							: additionalProperties === false
								? false
								: find(additionalProperties),
				}),
			);
		}
		if (propertyNames !== undefined) checks.push(checkPropertyNames(find(propertyNames)));
		const dependent = [
			...entries(dependencies),
			...(this.#draft === "newest" ? entries(schema["dependentSchemas"]) : []),
		];
		const schemas = dependent.filter(([, inner]) => !Array.isArray(inner));
		const names = [
			...dependent.filter(([, inner]) => Array.isArray(inner)),
			...(this.#draft === "newest" ? entries(schema["dependentRequired"]) : []),
		];
		if (schemas.length > 0) {
			checks.push(checkDependentSchemas(new Map(schemas.map(([name, inner]) => [name, find(inner)]))));
		}
		if (names.length > 0) {
			checks.push(checkDependentRequired(new Map(names.map(([name, list]) => [name, toTexts(list)]))));
		}
		return checks;
	}

	/** Schemas for unevaluated parts come last. */
	#readRest({ unevaluatedItems, unevaluatedProperties }: Schema, find: (inner: unknown) => SchemaNode): Check[] {
		if (this.#draft === "older") return [];
		return [
			...(unevaluatedItems === undefined
				? []
				: [checkRestOfItems(unevaluatedItems === false ? false : find(unevaluatedItems))]),
			...(unevaluatedProperties === undefined
				? []
				: [checkRestOfNames(unevaluatedProperties === false ? false : find(unevaluatedProperties))]),
		];
	}
}

function position(names: readonly string[], name: string): number {
	const found = names.indexOf(name);
	return found === -1 ? names.length : found;
}

/** Keywords that check the value directly, except type and patterns. */
function readValues(schema: Schema): Check[] {
	const checks: Check[] = [];
	const numbered = (keyword: string, make: (limit: number) => Check): void => {
		const limit = schema[keyword];
		if (typeof limit === "number") checks.push(make(limit));
	};
	const { enum: allowed, required, uniqueItems } = schema;
	if (Array.isArray(allowed)) checks.push(checkOneOfValues(allowed, "must be equal to one of the allowed values"));
	if ("const" in schema) checks.push(checkOneOfValues([schema["const"]], "must be equal to constant"));
	numbered("minimum", (limit) => checkNumber((value) => value >= limit, `must be >= ${limit}`));
	numbered("maximum", (limit) => checkNumber((value) => value <= limit, `must be <= ${limit}`));
	numbered("exclusiveMinimum", (limit) => checkNumber((value) => value > limit, `must be > ${limit}`));
	numbered("exclusiveMaximum", (limit) => checkNumber((value) => value < limit, `must be < ${limit}`));
	numbered("multipleOf", (limit) => checkNumber((value) => isMultiple(value, limit), `must be multiple of ${limit}`));
	numbered("minLength", checkShortest);
	numbered("maxLength", checkLongest);
	numbered("minItems", (limit) => checkItemCount((count) => count >= limit, `must NOT have fewer than ${limit} items`));
	numbered("maxItems", (limit) => checkItemCount((count) => count <= limit, `must NOT have more than ${limit} items`));
	numbered("minProperties", (limit) =>
		checkNameCount((count) => count >= limit, `must NOT have fewer than ${limit} properties`),
	);
	numbered("maxProperties", (limit) =>
		checkNameCount((count) => count <= limit, `must NOT have more than ${limit} properties`),
	);
	if (required !== undefined) checks.push(checkRequired(toTexts(required)));
	if (uniqueItems === true) checks.push(checkUnique);
	return checks;
}

function readCombinations(schema: Schema, find: (inner: unknown) => SchemaNode): Check[] {
	const checks: Check[] = [];
	const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
	if (Array.isArray(allOf)) checks.push(checkAll(allOf.map(find)));
	if (Array.isArray(anyOf)) checks.push(checkAny(anyOf.map(find)));
	if (Array.isArray(oneOf)) checks.push(checkOne(oneOf.map(find)));
	if (not !== undefined) checks.push(checkNot(find(not)));
	if (condition !== undefined) {
		const optional = (inner: unknown) => (inner === undefined ? null : find(inner));
		checks.push(checkIf(find(condition), optional(then), optional(otherwise)));
	}
	return checks;
}
