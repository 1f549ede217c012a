import { findPattern, isObject, type PatternSlot } from "./schema-assertions.ts";
import { type Check, fits, fitsAlone, type SchemaNode } from "./schema-node.ts";
import { shorten } from "./schema-run.ts";

export function checkAll(nodes: readonly SchemaNode[]): Check {
	return (value, place, run, evaluated) => nodes.every((node) => fits(node, value, place, run, evaluated));
}

export function checkAny(nodes: readonly SchemaNode[]): Check {
	return (value, place, run, evaluated) => {
		let isAny = false;
		return run.tryAny(() => {
			for (const node of nodes) {
				// To track evaluated parts, all matching schemas must run.
				if (isAny && evaluated === null) break;
				if (fitsAlone(node, value, place, run, evaluated)) isAny = true;
			}
			return isAny || run.fail(place, "must match a schema in anyOf");
		});
	};
}

export function checkOne(nodes: readonly SchemaNode[]): Check {
	return (value, place, run, evaluated) => {
		let count = 0;
		return run.tryAny(() => {
			for (const node of nodes) {
				if (count < 2 && fitsAlone(node, value, place, run, evaluated)) count += 1;
			}
			return count === 1 || run.fail(place, "must match exactly one schema in oneOf");
		});
	};
}

export function checkNot(node: SchemaNode): Check {
	return (value, place, run) =>
		!run.tryOut(() => fits(node, value, place, run, null)) || run.fail(place, "must NOT be valid");
}

export function checkIf(condition: SchemaNode, then: SchemaNode | null, otherwise: SchemaNode | null): Check {
	return (value, place, run, evaluated) => {
		const isTrue = run.tryOut(() => fitsAlone(condition, value, place, run, evaluated));
		const node = isTrue ? then : otherwise;
		if (node === null || fits(node, value, place, run, evaluated)) return true;
		return run.fail(place, `must match "${isTrue ? "then" : "else"}" schema`);
	};
}

export interface PropertySchemas {
	readonly named: ReadonlyMap<string, SchemaNode>;
	readonly matching: readonly (readonly [slot: PatternSlot, node: SchemaNode])[];
	readonly additional: SchemaNode | false | null;
}

export function checkProperties({ named, matching, additional }: PropertySchemas): Check {
	return (value, place, run, evaluated) => {
		if (!isObject(value)) return true;
		for (const name of run.namesOf(value)) {
			run.spend(evaluated === null ? 1 : 3);
			const own = named.get(name);
			const nodes = own === undefined ? [] : [own];
			for (const [slot, node] of matching) if (findPattern(slot, name, run)) nodes.push(node);
			if (nodes.length === 0) {
				if (additional === null) continue;
				if (additional === false) return run.fail(place, `must NOT have additional properties: '${shorten(name)}'`);
				nodes.push(additional);
			}
			evaluated?.names.add(name);
			const inner = { parent: place, key: name };
			if (!nodes.every((node) => fits(node, value[name], inner, run, null))) return false;
		}
		return true;
	};
}

export function checkPropertyNames(node: SchemaNode): Check {
	return (value, place, run) => {
		if (!isObject(value)) return true;
		const wrong = run.namesOf(value).find((name) => !fits(node, name, { parent: place, key: name }, run, null));
		return wrong === undefined || run.fail(place, "property name must be valid");
	};
}

export function checkDependentSchemas(nodes: ReadonlyMap<string, SchemaNode>): Check {
	return (value, place, run, evaluated) => {
		if (!isObject(value)) return true;
		run.spend(nodes.size);
		for (const [name, node] of nodes) {
			if (Object.hasOwn(value, name) && !fits(node, value, place, run, evaluated)) return false;
		}
		return true;
	};
}

export interface ItemSchemas {
	readonly first: readonly SchemaNode[];
	readonly rest: SchemaNode | false | null;
}

export function checkItems({ first, rest }: ItemSchemas): Check {
	return (value, place, run, evaluated) => {
		if (!Array.isArray(value)) return true;
		if (rest === false && value.length > first.length) {
			return run.fail(place, `must NOT have more than ${first.length} items`);
		}
		const count = rest === null ? Math.min(first.length, value.length) : value.length;
		for (let index = 0; index < count; index += 1) {
			const node = first[index] ?? rest;
			if (node === null || node === false) break;
			if (!fits(node, value[index], { parent: place, key: index }, run, null)) return false;
		}
		if (evaluated !== null) evaluated.firstItems = Math.max(evaluated.firstItems, count);
		return true;
	};
}

export function checkContains(node: SchemaNode, least: number, most: number | null): Check {
	const wanted = most === null ? `at least ${least}` : `at least ${least} and no more than ${most}`;
	return (value, place, run, evaluated) => {
		if (!Array.isArray(value)) return true;
		let count = 0;
		for (const [index, item] of value.entries()) {
			const inner = { parent: place, key: index };
			if (!run.tryOut(() => fits(node, item, inner, run, null))) continue;
			count += 1;
			evaluated?.items.add(index);
			if (evaluated === null && most === null && count >= least) break;
		}
		const isRight = count >= least && (most === null || count <= most);
		return isRight || run.fail(place, `must contain ${wanted} valid item(s)`);
	};
}

export function checkRestOfNames(node: SchemaNode | false): Check {
	return (value, place, run, evaluated) => {
		if (!isObject(value) || evaluated === null) return true;
		for (const name of run.namesOf(value)) {
			run.spend(3);
			if (evaluated.names.has(name)) continue;
			if (node === false) return run.fail(place, `must NOT have unevaluated properties: '${shorten(name)}'`);
			if (!fits(node, value[name], { parent: place, key: name }, run, null)) return false;
			evaluated.names.add(name);
		}
		return true;
	};
}

export function checkRestOfItems(node: SchemaNode | false): Check {
	return (value, place, run, evaluated) => {
		if (!Array.isArray(value) || evaluated === null) return true;
		for (const [index, item] of value.entries()) {
			run.spend(1);
			if (evaluated.hasItem(index)) continue;
			if (node === false) return run.fail(place, `must NOT have more than ${index} items`);
			if (!fits(node, item, { parent: place, key: index }, run, null)) return false;
		}
		evaluated.firstItems = value.length;
		return true;
	};
}
