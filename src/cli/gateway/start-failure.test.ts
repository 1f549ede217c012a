import { describe, expect, it } from "vitest";
import { describeStartFailure } from "./start-failure.ts";

const failure = (code: string, more: object = {}) => Object.assign(new Error(`${code}: refused`), { code, ...more });

describe("why a gateway could not start", () => {
	it.each([
		["localhost", "EACCES", "Port 80 of localhost needs more rights than this user has"],
		["localhost", "EADDRINUSE", "Port 80 of localhost is in use by another program"],
		["9.9.9.9", "EADDRNOTAVAIL", "--host 9.9.9.9: this machine does not have that address."],
		["none.invalid", "ENOTFOUND", "--host none.invalid: this name does not resolve"],
		["none.invalid", "ENOENT", "--host none.invalid: this name does not resolve"],
		["127.0.0.1", "EINVAL", "The gateway could not start: EINVAL: refused"],
	])("at %s: %s", async (address, code, text) => {
		const listening = failure(code, { syscall: "listen" });
		expect(await describeStartFailure(listening, { address, port: 80 })).toContain(text);
	});

	it("is not the port when it is a file that may not be written", async () => {
		const tokens = failure("EACCES", { syscall: "open", path: "/share/gateway.json" });
		expect(await describeStartFailure(tokens, { address: "127.0.0.1", port: 0 })).toMatch(
			/^The gateway could not start: \/share\/gateway\.json cannot be used: you have no permission \(EACCES\)\./,
		);
	});
});
