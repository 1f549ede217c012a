// Every way we know of to make FetchURL reach what is not public. Sockets are doubles: what would be connected to is noted,
// and only one public address leads anywhere, to an origin on loopback.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainNetworkSettings } from "../../../../test/support/host/network.ts";
import { briefOf, call, createToolPlace, type ToolPlace } from "../../../../test/support/host/tool-environment.ts";
import {
	type Answer,
	type Origin,
	startHttpProxy,
	startOrigin,
	startSocksProxy,
} from "../../../../test/support/host/web-servers.ts";
import type { ToolReturn } from "../../../api/values/content.ts";
import { type ResolvedAddress, systemSockets } from "../../../ports/network/connections/sockets.ts";
import { createNetwork } from "../../../ports/network/network.ts";
import { createFetchUrl } from "./fetch-url.ts";

const publicAddress = "93.184.215.14";

let place: ToolPlace;
let origin: Origin;
let answer: Answer;
beforeEach(async () => {
	place = await createToolPlace();
	answer = (_request, response) => response.writeHead(200, { "content-type": "text/plain" }).end("public");
	origin = await startOrigin((request, response) => answer(request, response));
});
afterEach(async () => {
	await origin.close();
	await place.remove();
});

interface Attempt {
	readonly result: ToolReturn;
	/** The addresses that were connected to, in order. */
	readonly dialled: readonly string[];
}

/** Fetches with a resolver that knows these names, each with its answers in turn; the last one stays. */
async function attempt(
	url: string,
	names: Readonly<Record<string, readonly (readonly string[])[]>> = {},
	allowed: readonly string[] = [],
	environment: Readonly<Record<string, string>> = {},
): Promise<Attempt> {
	const dialled: string[] = [];
	const asked = new Map<string, number>();
	const network = createNetwork({
		...plainNetworkSettings,
		environment,
		sockets: {
			async resolve(name): Promise<readonly ResolvedAddress[]> {
				const count = asked.get(name) ?? 0;
				asked.set(name, count + 1);
				const answers = names[name] ?? [];
				const addresses = answers[Math.min(count, answers.length - 1)] ?? [];
				if (addresses.length === 0) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
				return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
			},
			dial(_host, addresses, port) {
				dialled.push(...addresses.map(({ address }) => address));
				const isProxy = Object.values(environment).some((value) => value.endsWith(`:${port}`));
				const to = isProxy ? port : origin.port;
				return systemSockets.dial("a.test", [{ address: "127.0.0.1", family: 4 }], to);
			},
		},
	});
	const web = { ...place.environment.web, network, allowed };
	return { result: await call(createFetchUrl({ ...place.environment, web }), { url }), dialled };
}

const spellings = [
	"http://127.0.0.1/",
	"http://127.0.0.1:8080/",
	"http://127.1/",
	"http://127.0.1/",
	"http://2130706433/",
	"http://0x7f000001/",
	"http://0x7f.0.0.1/",
	"http://0x7f.1/",
	"http://0177.0.0.1/",
	"http://017700000001/",
	"http://127.000.000.001/",
	"http://127.0.0.1./",
	"http://127。0。0。1/",
	"http://①②⑦.⓪.⓪.①/",
	"http://%31%32%37.0.0.1/",
	"http://127.8.9.10/",
	"http://0/",
	"http://0.0.0.0/",
	"http://[::]/",
	"http://[::1]/",
	"http://[0:0:0:0:0:0:0:1]/",
	"http://[::ffff:127.0.0.1]/",
	"http://[::ffff:7f00:1]/",
	"http://[::127.0.0.1]/",
	"http://[::ffff:0:127.0.0.1]/",
	"http://[64:ff9b::127.0.0.1]/",
	"http://[64:ff9b::a9fe:a9fe]/",
	"http://[64:ff9b:1::10.0.0.1]/",
	"http://[2002:7f00:1::]/",
	"http://[2002:a9fe:a9fe::1]/",
	"http://[2001:0:53aa:64c::1]/",
	"http://[fe80::1]/",
	"http://[fc00::1]/",
	"http://[fd00:ec2::254]/",
	"http://[fec0::1]/",
	"http://[ff02::1]/",
	"http://[4000::1]/",
	"http://10.0.0.1/",
	"http://172.16.0.1/",
	"http://172.31.255.255/",
	"http://192.168.1.1/",
	"http://192.168.257/",
	"http://169.254.169.254/latest/meta-data/",
	"http://2852039166/",
	"http://0xA9FEA9FE/",
	"http://169.254.43518/",
	"http://169.254.170.2/",
	"http://100.64.0.1/",
	"http://100.100.100.200/",
	"http://168.63.129.16/",
	"http://192.0.0.192/",
	"http://198.18.0.1/",
	"http://224.0.0.1/",
	"http://240.0.0.1/",
	"http://255.255.255.255/",
	"http://127.0.0.1\\@public.test/",
	"http:127.0.0.1/",
	"\thttp://127.0.0.1/\n",
];

const nearNames = [
	"http://localhost/",
	"http://LOCALHOST/",
	"http://localhost./",
	"http://ⓛocalhost/",
	"http://a.localhost/",
	"http://metadata.google.internal/",
	"http://printer.local/",
	"http://router/",
];

describe("non-public addresses", () => {
	it.each([...spellings, ...nearNames])("are refused: %j", async (url) => {
		const { result, dialled } = await attempt(url, { router: [["10.0.0.1"]], localhost: [["127.0.0.1"]] });
		expect([briefOf(result), dialled]).toEqual(["Address not allowed", []]);
		expect(result.message).toContain("agentwire.fetch_allow");
	});

	it.each([
		["loopback", ["127.0.0.1"]],
		["loopback of IPv6", ["::1"]],
		["a mapped address", ["::ffff:10.0.0.1"]],
		["a link-local address with a zone", ["fe80::1%lo"]],
		["this machine", ["0.0.0.0"]],
		["a metadata service", ["169.254.169.254"]],
		["a public and a private address", [publicAddress, "10.0.0.1"]],
		["a private and a public address", ["fd00::1", publicAddress]],
	])("are refused as the target of a name: %s", async (_name, addresses) => {
		const { result, dialled } = await attempt("http://evil.test/", { "evil.test": [addresses] });
		expect([briefOf(result), dialled]).toEqual(["Address not allowed", []]);
		expect(result.message).toContain("evil.test has the address");
	});

	it.each([
		...["http://127.0.0.1/", "http://2852039166/", "http://[::ffff:7f00:1]/", "//[::1]/", "http://localhost/"],
		...["http://evil.test/", "https://10.0.0.1/"],
	])("are refused after a redirect: %s", async (location) => {
		answer = (_request, response) => response.writeHead(302, { location }).end();
		const names = { "public.test": [[publicAddress]], "evil.test": [["192.168.0.1"]] };
		const { result, dialled } = await attempt("http://public.test/", names);
		expect([briefOf(result), dialled]).toEqual(["Address not allowed", [publicAddress]]);
	});

	it("are refused when the resolver answers differently the second time", async () => {
		answer = (_request, response) =>
			response.writeHead(302, { location: "http://rebind.test/again", connection: "close" }).end();
		const { result, dialled } = await attempt("http://rebind.test/", {
			"rebind.test": [[publicAddress], ["127.0.0.1"]],
		});
		expect([briefOf(result), dialled]).toEqual(["Address not allowed", [publicAddress]]);
	});

	it.each([
		...["file:///etc/passwd", "ftp://public.test/", "gopher://127.0.0.1/", "data:text/plain,x", "javascript:1"],
		...["public.test", "/etc/passwd", "http://", "http://me:secret@public.test/", "http://public.test@127.0.0.1/"],
		...["http://[::1%25lo]/", "http://256.256.256.256/"],
	])("are refused in an unsupported URL: %s", async (url) => {
		const { result, dialled } = await attempt(url);
		expect([briefOf(result), dialled]).toEqual(["Invalid URL", []]);
		expect(result.message).not.toContain("secret");
	});

	it.each(["file:///etc/passwd", "http://me:secret@public.test/", "http://["])(
		"are refused in an unsupported URL after a redirect: %s",
		async (location) => {
			answer = (_request, response) => response.writeHead(302, { location }).end();
			const { result, dialled } = await attempt("http://public.test/", { "public.test": [[publicAddress]] });
			expect([briefOf(result), dialled]).toEqual(["Bad redirect", [publicAddress]]);
		},
	);
});

describe("public or allowed addresses", () => {
	it("are connected to exactly as checked", async () => {
		const { result, dialled } = await attempt("http://public.test/", {
			"public.test": [[publicAddress], ["127.0.0.1"]],
		});
		expect([result.output, dialled]).toEqual(["public", [publicAddress]]);
	});

	it.each([
		["http://[2606:4700:4700::1111]/", []],
		["http://[64:ff9b::5db8:d70e]/", []],
		["http://127.0.0.1/", ["127.0.0.1"]],
		["http://127.0.0.1/", ["127.0.0.0/8"]],
		["http://[::ffff:127.0.0.1]/", ["127.0.0.0/8"]],
		["http://[::1]/", ["::1"]],
		["http://wiki.corp/", ["wiki.corp"]],
		["http://wiki.corp/", ["*.corp"]],
		["http://wiki.corp/", ["10.0.0.0/8"]],
		["http://wiki/", ["wiki"]],
		["http://localhost/", ["localhost"]],
	])("are connected to: %s with %j", async (url, allowed) => {
		const names = { "wiki.corp": [["10.0.0.1"]], wiki: [["10.0.0.1"]], localhost: [["127.0.0.1"]] };
		expect((await attempt(url, names, allowed)).result.output).toBe("public");
	});

	it("do not admit a redirect to others", async () => {
		answer = (_request, response) => response.writeHead(302, { location: "http://10.0.0.2/" }).end();
		const { result } = await attempt("http://10.0.0.1/", {}, ["10.0.0.1"]);
		expect(briefOf(result)).toBe("Address not allowed");
	});
});

describe("a proxy that resolves names itself", () => {
	it.each([
		["http", "HTTP_PROXY", startHttpProxy],
		["socks5", "ALL_PROXY", startSocksProxy],
	])("of the kind %s gets no local names or addresses, but all others", async (kind, variable, start) => {
		const proxy = await start();
		try {
			const environment = { [variable]: `${kind}://127.0.0.1:${proxy.port}` };
			for (const url of [...spellings, ...nearNames]) {
				expect([url, briefOf((await attempt(url, {}, [], environment)).result)]).toEqual([url, "Address not allowed"]);
			}
			expect(proxy.connections()).toBe(0);
			const { result } = await attempt(`http://public.test:${origin.port}/`, {}, [], environment);
			expect(result.output).toBe("public");
			expect(result.message).toBe(
				`The page is shown as it is. The proxy of ${variable} resolved public.test, so agentwire could not check that the address is public.`,
			);
		} finally {
			await proxy.close();
		}
	});
});
