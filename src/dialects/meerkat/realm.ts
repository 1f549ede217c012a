// The realm of a server: its sessions and its configuration, apart from those of other realms.

export interface Realm {
	readonly id: string;
	/** What this process is called in it; null for nothing. */
	readonly instance: string | null;
	/** How its sessions are stored. */
	readonly backend: "jsonl" | "memory";
}

/** As replies about the configuration have it. */
export function toRealmMembers(realm: Realm | null): {
	readonly realm_id?: string;
	readonly instance_id?: string;
	readonly backend?: Realm["backend"];
} {
	if (realm === null) return {};
	const { id, instance, backend } = realm;
	return { realm_id: id, ...(instance === null ? {} : { instance_id: instance }), backend };
}
