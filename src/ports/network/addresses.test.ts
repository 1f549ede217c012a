import { describe, expect, it } from "vitest";
import { createPublicOnlyRule } from "./address-rule.ts";
import { isInRange, whyNotPublic } from "./addresses.ts";

describe("addresses of the public internet", () => {
	it.each([
		"93.184.215.14",
		"1.1.1.1",
		"172.15.255.255",
		"172.32.0.1",
		"100.63.255.255",
		"100.128.0.1",
		"169.253.1.1",
		"198.17.0.1",
		"223.255.255.255",
		"2606:4700:4700::1111",
		"2a00:1450:4001::200e",
		"::ffff:93.184.215.14",
		"64:ff9b::5db8:d70e",
		"2002:5db8:d70e::1",
	])("include %s", (address) => expect(whyNotPublic(address)).toBeNull());

	it.each([
		["0.0.0.0", "unspecified"],
		["0.1.2.3", "unspecified"],
		["127.0.0.1", "loopback"],
		["127.255.255.254", "loopback"],
		["10.0.0.1", "private"],
		["172.16.0.1", "private"],
		["172.31.255.255", "private"],
		["192.168.1.1", "private"],
		["169.254.169.254", "link-local"],
		["100.64.0.1", "provider's network"],
		["100.100.100.200", "provider's network"],
		["192.0.0.192", "reserved"],
		["192.0.2.1", "reserved"],
		["198.18.0.1", "reserved"],
		["224.0.0.1", "multicast"],
		["239.255.255.250", "multicast"],
		["240.0.0.1", "reserved"],
		["255.255.255.255", "broadcast"],
		["168.63.129.16", "metadata"],
		["::", "unspecified"],
		["::1", "loopback"],
		["fe80::1", "link-local"],
		["fe80::1%eth0", "link-local"],
		["fc00::1", "unique local"],
		["fd00:ec2::254", "unique local"],
		["ff02::1", "multicast"],
		["fec0::1", "reserved"],
		["::ffff:127.0.0.1", "loopback"],
		["::ffff:a9fe:a9fe", "link-local"],
		["::7f00:1", "reserved"],
		["::ffff:0:7f00:1", "loopback"],
		["64:ff9b::a00:1", "private"],
		["64:ff9b::7f00:1", "loopback"],
		["64:ff9b:1::a00:1", "reserved"],
		["2002:7f00:1::", "loopback"],
		["2002:c0a8:101::1", "private"],
		["2001:0:53aa:64c::1", "reserved"],
		["2001:db8::1", "reserved"],
		["100::1", "reserved"],
		["4000::1", "reserved"],
		["", "no address"],
		["127.1", "no address"],
		["example.test", "no address"],
	])("do not include %s: it is %s", (address, reason) => expect(whyNotPublic(address)).toContain(reason));
});

describe("ranges", () => {
	it.each([
		["10.1.2.3", "10.0.0.0/8", true],
		["11.1.2.3", "10.0.0.0/8", false],
		["10.1.2.3", "10.1.2.3", true],
		["10.1.2.4", "10.1.2.3", false],
		["::ffff:10.1.2.3", "10.0.0.0/8", true],
		["fd12::1", "fd00::/8", true],
		["fd12::1", "10.0.0.0/8", false],
		["10.1.2.3", "::ffff:10.0.0.0/104", false],
		["name.test", "10.0.0.0/8", false],
		["10.1.2.3", "name.test", false],
	])("%s in %s: %s", (address, range, expected) => expect(isInRange(address, range)).toBe(expected));
});

describe("the address rule for public addresses only", () => {
	const strict = createPublicOnlyRule([]);
	const lenient = createPublicOnlyRule(["wiki.corp", "*.Lab.test", "10.1.0.0/16", "::1", "router"]);

	it.each([
		"localhost",
		"LOCALHOST.",
		"a.localhost",
		"printer.local",
		"metadata.google.internal",
		"nas.home.arpa",
		"router",
	])("refuses the name %s", (name) => expect(strict.checkName(name)).toMatch(/name of this machine/));

	it.each(["example.test", "localhost.example.test", "internal.example.test"])("admits %s", (name) =>
		expect(strict.checkName(name)).toBeNull(),
	);

	it("names the address of a host in its refusal", () => {
		expect(strict.checkAddress("10.0.0.1", "a.test")).toBe(
			"a.test has the address 10.0.0.1, which is a private address",
		);
		expect(strict.checkAddress("10.0.0.1", "10.0.0.1")).toBe("10.0.0.1 is a private address");
		expect(strict.checkAddress("1.1.1.1", "a.test")).toBeNull();
	});

	it.each([
		["10.2.0.1", "wiki.corp", true],
		["10.2.0.1", "WIKI.corp.", true],
		["10.2.0.1", "a.wiki.corp", false],
		["127.0.0.1", "a.b.lab.test", true],
		["127.0.0.1", "lab.test", false],
		["10.1.2.3", "a.test", true],
		["10.2.2.3", "a.test", false],
		["::1", "a.test", true],
		["192.168.0.1", "router", true],
	])("admits %s of %s when it is allowed: %s", (address, host, expected) =>
		expect(lenient.checkAddress(address, host) === null).toBe(expected),
	);

	it("admits allowed names", () => {
		expect(["router", "x.lab.test", "localhost"].map((name) => lenient.checkName(name) === null)).toEqual([
			true,
			true,
			false,
		]);
	});
});
