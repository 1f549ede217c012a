import { describe, expect, it } from "vitest";
import { defaultContract, parseContractVersion } from "./contract-version.ts";

describe("a version of the contract", () => {
	it.each([
		["0.9", defaultContract],
		["0.9.6", { major: 0, minor: 9, patch: 6 }],
		["0.8", { major: 0, minor: 8, patch: 52 }],
		["0.3", { major: 0, minor: 3, patch: 0 }],
	])("is read from %s", (text, version) => expect(parseContractVersion(text)).toEqual(version));

	it.each(["", "9", "0.10", "1.0", "0.2", "0.9.x", "v0.9", "0.9.99999"])("is not read from '%s'", (text) => {
		expect(parseContractVersion(text)).toBeNull();
	});
});
