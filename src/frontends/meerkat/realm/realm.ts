// The realm of a server: its sessions and its configuration, apart from those of other realms.
import { isRecord } from "../../../base/json.ts";
import type { Method } from "../../../ports/rpc/methods.ts";

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
	readonly instance_id?: string | null;
	readonly backend?: Realm["backend"];
} {
	if (realm === null) return {};
	const { id, instance, backend } = realm;
	return { realm_id: id, instance_id: instance, backend };
}

/** The realm of a server that is started without one. */
const plainRealm = "default";

/** What stands before the ids of its sessions in references. */
export function toRealmId(realm: Realm | null): string {
	return realm?.id ?? plainRealm;
}

/** A session by its realm and its id. */
export function toSessionRef(realmId: string, sessionId: string): string {
	return `${realmId}:${sessionId}`;
}

const reference = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99}):(.*)$/s;

/**
 * A method whose `session_id` may be a reference to a session of this realm. One of another realm is refused: its sessions
 * are not to be had here.
 */
export function inRealm(realmId: string, method: Method): Method {
	return {
		...method,
		prepare(params) {
			if (!isRecord(params) || typeof params["session_id"] !== "string") return method.prepare(params);
			const [, named, id] = reference.exec(params["session_id"]) ?? [];
			// `urn:uuid:…` is a spelling of an id.
			if (named === undefined || named.toLowerCase() === "urn") return method.prepare(params);
			if (named === realmId) return method.prepare({ ...params, session_id: id });
			return {
				kind: "unfit",
				reason: `Session locator realm '${named}' does not match active runtime realm '${realmId}'`,
				place: "session_id",
				expected: null,
			};
		},
	};
}
