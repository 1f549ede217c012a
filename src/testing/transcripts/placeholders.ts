// The same placeholder stands for the same value throughout a run.

const entry = "\\{[^{}]*\\}";

const kinds: Readonly<Record<string, string>> = {
	uuid: "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
	uuid8: "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
	uuid7: "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
	hex8: "[0-9a-f]{8}",
	hex12: "[0-9a-f]{12}",
	hex32: "[0-9a-f]{32}",
	float: "-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?",
	list: `\\[(?:${entry}(?:,${entry})*)?\\]`,
	any: ".+",
	text: '(?:[^"\\\\]|\\\\.)*',
};

const placeholder =
	/<(work-dir|share-dir|version|(?:uuid7|uuid8|uuid|hex8|hex12|hex32|float|list|text|any)(?::[^<>]+)?)>/g;

export function hasPlaceholder(text: string): boolean {
	return text.search(placeholder) !== -1;
}

export interface Bindings {
	fill(text: string): string;
	/** A match binds the placeholders in it. */
	matches(text: string, received: string): boolean;
}

/** Ids of another implementation: any text. */
const anyIds: Readonly<Record<string, string>> = Object.fromEntries(
	["uuid", "uuid7", "uuid8", "hex8", "hex12", "hex32"].map((kind) => [kind, '[^"\\\\]+']),
);

export interface BindingOptions {
	/** Ids may have any form. */
	readonly anyIds?: boolean;
	/** Makes a value for a placeholder not received yet; without it that is an error. */
	make?(name: string): string;
}

/** `given` are the values known beforehand: `work-dir`, `share-dir` and `version`. */
export function createBindings(given: Readonly<Record<string, string>>, options: BindingOptions = {}): Bindings {
	const bound = new Map(Object.entries(given));
	const patterns = options.anyIds === true ? { ...kinds, ...anyIds } : kinds;
	return {
		fill: (text) =>
			text.replace(placeholder, (whole, name: string) => {
				const value = bound.get(name) ?? options.make?.(name);
				if (value === undefined) throw new Error(`${whole} was not received yet`);
				if (isNamed(name)) bound.set(name, value);
				return value;
			}),
		matches(text, received) {
			const names: string[] = [];
			const pattern = text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(placeholder, (_whole, escaped: string) => {
				const name = escaped.replaceAll("\\", "");
				const value = bound.get(name);
				if (value !== undefined) return value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
				names.push(name);
				return `(${patterns[name.split(":")[0] ?? ""] ?? ".*"})`;
			});
			const found = new RegExp(`^${pattern}$`, "s").exec(received);
			if (found === null) return false;
			const taken = names.map((name, index) => [name, found[index + 1] ?? ""] as const);
			if (!taken.every(([name, value]) => isInRange(name, value))) return false;
			for (const [name, value] of taken) if (isNamed(name)) bound.set(name, value);
			return true;
		},
	};
}

/** `<float:0.3..0.8>` is a range and not bound; `<uuid:1>` and `<work-dir>` are bound names. */
function isNamed(name: string): boolean {
	return kinds[name] === undefined && !name.includes("..");
}

function isInRange(name: string, value: string): boolean {
	const range = /^float:(.+)\.\.(.+)$/.exec(name);
	return range === null || (Number(value) >= Number(range[1]) && Number(value) <= Number(range[2]));
}
