// References to sessions: `<realm>:<id>` wherever an id may be given.
import { describe, expect, it } from "vitest";
import type { Method } from "../../../ports/rpc/methods.ts";
import { inRealm, toRealmId, toRealmMembers, toSessionRef } from "./realm.ts";

const id = "0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55";

function readBy(realmId: string, session_id: unknown): unknown {
	const seen: unknown[] = [];
	const method: Method = {
		actsOn: "requests",
		prepare: (params) => {
			seen.push(params);
			return async () => null;
		},
	};
	const prepared = inRealm(realmId, method).prepare({ session_id, prompt: "x" });
	return typeof prepared === "function" ? seen[0] : prepared;
}

describe("a session by its realm and its id", () => {
	it("is the session of this realm, whatever else the request has", () => {
		expect(toSessionRef("dev", id)).toBe(`dev:${id}`);
		expect(readBy("dev", `dev:${id}`)).toEqual({ session_id: id, prompt: "x" });
		expect(readBy(toRealmId(null), `default:${id}`)).toEqual({ session_id: id, prompt: "x" });
	});

	it("is refused by name where it belongs to another realm", () => {
		expect(readBy("dev", `other:${id}`)).toMatchObject({ kind: "unfit", reason: expect.stringContaining("'other'") });
	});

	it.each([id, `urn:uuid:${id}`, `URN:UUID:${id}`, "nonsense", "", 5, null, `../x:${id}`])(
		"%j is left as it is",
		(given) => {
			expect(readBy("dev", given)).toEqual({ session_id: given, prompt: "x" });
		},
	);

	it("leaves params alone that are no object", () => {
		const method: Method = {
			actsOn: "both",
			prepare: (params) => ({ kind: "unfit", reason: String(params), place: null, expected: null }),
		};
		expect(inRealm("dev", method).prepare("dev:x")).toMatchObject({ reason: "dev:x" });
	});
});

it("a realm is named in replies about the configuration", () => {
	expect(toRealmMembers({ id: "dev", instance: "one", backend: "memory" })).toEqual({
		realm_id: "dev",
		instance_id: "one",
		backend: "memory",
	});
	expect(toRealmMembers(null)).toEqual({});
});
