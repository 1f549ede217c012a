import { describe, expect, it } from "vitest";
import { KernelError } from "../../../base/errors.ts";
import { isLocal, parseDatabaseUrl, toDatabaseName } from "./database-address.ts";

describe("the address of a database", () => {
	it.each([
		["postgresql://me:s%40crt@db.example:6543/agents", ["db.example", 6543, "agents", "me", "s@crt", null]],
		["postgres://db/agents?sslmode=verify-ca", ["db", 5432, "agents", null, null, "verify-ca"]],
		["postgresql:///agents?host=/run/postgresql&user=me", ["/run/postgresql", 5432, "agents", "me", null, null]],
		["postgresql://[::1]:5433/a%20b", ["::1", 5433, "a b", null, null, null]],
	])("is read from %s", (url, expected) => {
		const { host, port, database, user, password, tls } = parseDatabaseUrl(url);
		expect([host, port, database, user, password, tls]).toEqual(expected);
	});

	it.each([
		"",
		"mysql://me@db/agents",
		"postgresql://me@db",
		"postgresql://me:top-secret@db/agents?sslmode=maybe",
		"postgresql://me:top-secret@db:99999999/agents",
		"postgresql://me:top-secret@db/agents?conect_timeout=3",
		"postgresql://me:top-secret%@db/agents",
	])("is refused in words, without the password: %s", (url) => {
		const refusal = (() => {
			try {
				return parseDatabaseUrl(url);
			} catch (thrown) {
				return thrown;
			}
		})();
		expect(refusal).toBeInstanceOf(KernelError);
		expect(refusal).toMatchObject({
			code: "invalid-input",
			message: expect.stringContaining("postgresql://user@host"),
		});
		expect(String(refusal)).not.toContain("top-secret");
	});

	it("is named for people without user and password", () => {
		expect(toDatabaseName(parseDatabaseUrl("postgresql://me:pw@db.example/agents"))).toBe("agents at db.example:5432");
		expect(toDatabaseName(parseDatabaseUrl("postgresql:///agents?host=/run/pg"))).toBe("agents at /run/pg, port 5432");
	});

	it.each([
		["postgresql:///agents?host=/run/pg", true],
		["postgresql://127.0.0.1/agents", true],
		["postgresql://[::1]/agents", true],
		["postgresql://10.0.0.1/agents", false],
		["postgresql://db/agents", false],
	])("is on this machine or not: %s", (url, expected) => {
		expect(isLocal(parseDatabaseUrl(url))).toBe(expected);
	});
});
