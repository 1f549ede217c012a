import { describe, expect, it } from "vitest";
import { KernelError } from "../../../base/errors.ts";
import { AccessControl, banSpan, failureLimit, hostNames, isLoopback, type RequestFacts } from "./access.ts";

const facts: RequestFacts = {
	hosts: ["127.0.0.1:7420"],
	origin: null,
	fetchSite: null,
	authorization: "Bearer right",
	remoteAddress: "127.0.0.1",
};

function createAccess(time = { now: 0 }) {
	const tokens = {
		scopeOf: async (token: string) => {
			if (token === "right") return "control" as const;
			return token === "looks" ? ("observe" as const) : null;
		},
	};
	return new AccessControl({ hosts: hostNames("127.0.0.1", 7420, [], false), tokens, now: () => time.now });
}

const statusOf = async (access: AccessControl, more: Partial<RequestFacts>) => {
	const answer = await access.check({ ...facts, ...more });
	return answer.kind === "allowed" ? answer.scope : answer.status;
};

describe("AccessControl", () => {
	it.each(["127.0.0.1:7420", "localhost:7420", "LOCALHOST:7420", "[::1]:7420"])("is reached as %s", async (host) => {
		expect(await statusOf(createAccess(), { hosts: [host] })).toBe("control");
	});

	it.each([
		["a name that was made to lead here", ["evil.test:7420"]],
		["a name that begins as loopback does", ["127.evil.test:7420"]],
		["a name that begins with localhost", ["localhost.evil.test:7420"]],
		["another port", ["127.0.0.1:80"]],
		["no port", ["127.0.0.1"]],
		["the address of all interfaces", ["0.0.0.0:7420"]],
		["another loopback address", ["127.0.0.2:7420"]],
		["a user in front", ["127.0.0.1:7420@evil.test"]],
		["two hosts", ["127.0.0.1:7420", "evil.test"]],
		["none", []],
		["an empty one", [""]],
	])("refuses %s before it looks at the token", async (_name, hosts) => {
		expect(await statusOf(createAccess(), { hosts })).toBe(421);
		expect(await statusOf(createAccess(), { hosts, authorization: null })).toBe(421);
	});

	it("takes requests of its own page and of programs", async () => {
		for (const origin of [null, "http://127.0.0.1:7420", "https://127.0.0.1:7420"]) {
			expect(await statusOf(createAccess(), { origin })).toBe("control");
		}
		for (const fetchSite of ["same-origin", "none"]) {
			expect(await statusOf(createAccess(), { fetchSite })).toBe("control");
		}
	});

	it.each(["http://evil.test", "null", "", "http://127.0.0.1:7420.evil.test", "http://localhost:7420", "file://"])(
		"refuses the origin %s, with the right token",
		async (origin) => {
			expect(await statusOf(createAccess(), { origin })).toBe(403);
		},
	);

	it.each(["cross-site", "same-site", "", "same-origin, cross-site"])(
		"refuses requests of the site %s",
		async (fetchSite) => {
			expect(await statusOf(createAccess(), { fetchSite })).toBe(403);
		},
	);

	it.each([
		null,
		"",
		"Bearer",
		"Bearer ",
		"Bearer wrong",
		"Basic cmlnaHQ=",
		"Bearer right right",
		"Bearer right\u0000",
		`Bearer ${"a".repeat(10_000)}`,
	])("refuses the authorization %j", async (authorization) => {
		expect(await statusOf(createAccess(), { authorization })).toBe(401);
	});

	it("takes the scope from the token", async () => {
		expect(await statusOf(createAccess(), { authorization: "Bearer looks" })).toBe("observe");
		expect(await statusOf(createAccess(), { authorization: "bearer right" })).toBe("control");
	});

	it("refuses an address for a minute after ten failures, and no other one", async () => {
		const time = { now: 0 };
		const access = createAccess(time);
		const guess = { remoteAddress: "192.0.2.1", authorization: "Bearer wrong" };
		for (let count = 0; count < failureLimit; count += 1) expect(await statusOf(access, guess)).toBe(401);
		expect(await statusOf(access, guess)).toBe(429);
		expect(await statusOf(access, { remoteAddress: "192.0.2.1" })).toBe(429);
		expect(await statusOf(access, { remoteAddress: "192.0.2.2" })).toBe("control");
		time.now += banSpan;
		expect(await statusOf(access, { remoteAddress: "192.0.2.1" })).toBe("control");
	});

	it("counts an IPv6 client once, whichever of its addresses it uses, and an IPv4 one however it is written", async () => {
		const access = createAccess();
		for (let count = 0; count < failureLimit; count += 1) {
			const guess = { authorization: "Bearer wrong" };
			expect(await statusOf(access, { ...guess, remoteAddress: `2001:db8:0:1::${count.toString(16)}` })).toBe(401);
			expect(await statusOf(access, { ...guess, remoteAddress: "::ffff:192.0.2.1" })).toBe(401);
		}
		expect(await statusOf(access, { remoteAddress: "2001:db8:0:1:ffff::9" })).toBe(429);
		expect(await statusOf(access, { remoteAddress: "2001:db8::1:0:0:0:9" })).toBe(429);
		expect(await statusOf(access, { remoteAddress: "2001:db8:0:2::1" })).toBe("control");
		expect(await statusOf(access, { remoteAddress: "192.0.2.1" })).toBe(429);
	});

	it("does not lock out this machine", async () => {
		const access = createAccess();
		for (const remoteAddress of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
			for (let count = 0; count < 2 * failureLimit; count += 1) {
				expect(await statusOf(access, { remoteAddress, authorization: null })).toBe(401);
			}
			expect(await statusOf(access, { remoteAddress })).toBe("control");
		}
	});

	it("lets nobody in while the tokens cannot be read", async () => {
		const tokens = {
			scopeOf: async () => {
				throw new KernelError("storage-failed", "no file");
			},
		};
		const access = new AccessControl({ hosts: hostNames("127.0.0.1", 7420, [], false), tokens, now: () => 0 });
		await expect(access.check(facts)).rejects.toThrow("no file");
	});
});

describe("hostNames", () => {
	it("are those of the address that is bound, with its port", () => {
		expect([...hostNames("192.0.2.7", 7420, [], false)]).toEqual(["192.0.2.7:7420"]);
		expect([...hostNames("2001:db8::1", 7420, [], false)]).toEqual(["[2001:db8::1]:7420"]);
		expect(hostNames("127.0.0.1", 80, [], false)).toContain("localhost");
		expect(hostNames("127.0.0.1", 443, [], true)).toContain("localhost");
		expect(hostNames("127.0.0.1", 443, [], false)).not.toContain("localhost");
	});

	it("are this machine's own where all addresses are bound", () => {
		for (const address of ["0.0.0.0", "::"]) {
			const names = hostNames(address, 7420, ["192.0.2.7"], false);
			for (const name of ["127.0.0.1:7420", "localhost:7420", "[::1]:7420", "192.0.2.7:7420"]) {
				expect(names).toContain(name);
			}
			expect(names).not.toContain("evil.test:7420");
		}
	});

	it("take the names of a proxy with and without a port", () => {
		const names = hostNames("127.0.0.1", 7420, ["Agent.test", "other.test:8443"], false);
		expect(names).toContain("agent.test");
		expect(names).toContain("agent.test:7420");
		expect(names).toContain("other.test:8443");
		expect(names).not.toContain("other.test");
	});
});

describe("isLoopback", () => {
	it.each(["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])("holds of %s", (address) => {
		expect(isLoopback(address)).toBe(true);
	});
	it.each(["127.evil.test", "127.0.0.1.evil.test", "0.0.0.0", "::", "localhost", "10.0.0.1", ""])(
		"does not of %s",
		(address) => {
			expect(isLoopback(address)).toBe(false);
		},
	);
});
