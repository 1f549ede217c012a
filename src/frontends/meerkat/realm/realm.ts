import { isRecord } from "../../../base/json.ts";
import type { Method } from "../../../ports/rpc/methods.ts";

export interface Realm {
	readonly id: string;
	/** This process's name in the realm; null for none. */
	readonly instance: string | null;
	readonly backend: "jsonl" | "memory";
}

export function toRealmMembers(realm: Realm | null): {
	readonly realm_id?: string;
	readonly instance_id?: string | null;
	readonly backend?: Realm["backend"];
} {
	if (realm === null) return {};
	const { id, instance, backend } = realm;
	return { realm_id: id, instance_id: instance, backend };
}

const plainRealm = "default";

export function toRealmId(realm: Realm | null): string {
	return realm?.id ?? plainRealm;
}

export function toSessionRef(realmId: string, sessionId: string): string {
	return `${realmId}:${sessionId}`;
}

const reference = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99}):(.*)$/s;

/** Accepts references to sessions of this realm as `session_id`; rejects those of other realms. */
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
