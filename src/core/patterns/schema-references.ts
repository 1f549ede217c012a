import { isObject } from "./schema-assertions.ts";

/** A schema or subschema with its own `$id`, against which its references resolve. */
export interface Resource {
	readonly root: unknown;
	readonly base: string;
	readonly anchors: Map<string, unknown>;
}

/** Maximum URI length in characters, also after resolution; otherwise many relative URIs could each inherit a huge base. */
export const longestAddress = 2000;
export const maximumAddresses = 2000;

export class References {
	resolved = 0;

	readonly #resources = new Map<string, Resource>();
	readonly #dynamicAnchors = new Map<string, number>();

	/** Opens the resource `id`, relative to `parent`; null for an invalid URI. */
	open(root: unknown, id: string, parent: Resource | null): Resource | null {
		const base = this.#resolve(id, parent?.base ?? "schema:///");
		if (base === null) return null;
		const resource = { root, base: withoutFragment(base), anchors: new Map<string, unknown>() };
		if (!this.#resources.has(resource.base)) this.#resources.set(resource.base, resource);
		return resource;
	}

	addAnchor(resource: Resource, name: string, schema: unknown, isDynamic: boolean): void {
		resource.anchors.set(name, schema);
		if (isDynamic) this.#dynamicAnchors.set(name, (this.#dynamicAnchors.get(name) ?? 0) + 1);
	}

	/** Whether the target depends on the path by which the schema was reached. */
	isAmbiguous(reference: string): boolean {
		return (this.#dynamicAnchors.get(reference.slice(reference.indexOf("#") + 1)) ?? 0) > 1;
	}

	/** The target of a reference in `from`, with its resource; null if missing. */
	find(reference: string, from: Resource): { readonly schema: unknown; readonly resource: Resource } | null {
		const split = reference.indexOf("#");
		const address = split === -1 ? reference : reference.slice(0, split);
		const resource =
			address === "" ? from : this.#resources.get(withoutFragment(this.#resolve(address, from.base) ?? ""));
		if (resource === undefined) return null;
		const fragment = decode(split === -1 ? "" : reference.slice(split + 1));
		if (fragment === null) return null;
		if (fragment === "") return { schema: resource.root, resource };
		const schema = fragment.startsWith("/") ? follow(resource.root, fragment) : resource.anchors.get(fragment);
		return schema === undefined ? null : { schema, resource };
	}

	#resolve(address: string, base: string): string | null {
		this.resolved += 1;
		if (this.resolved > maximumAddresses || address.length > longestAddress) return null;
		try {
			const { href } = new URL(address, base);
			return href.length > longestAddress ? null : href;
		} catch {
			return null;
		}
	}
}

const withoutFragment = (address: string): string => address.split("#", 1)[0] ?? "";

function decode(fragment: string): string | null {
	try {
		return decodeURIComponent(fragment);
	} catch {
		return null;
	}
}

function follow(root: unknown, pointer: string): unknown {
	let at = root;
	for (const part of pointer.slice(1).split("/")) {
		const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
		if (Array.isArray(at)) at = /^(?:0|[1-9]\d{0,9})$/.test(key) ? at[Number(key)] : undefined;
		else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
		if (at === undefined) return undefined;
	}
	return at;
}
