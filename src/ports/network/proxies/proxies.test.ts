import { describe, expect, it } from "vitest";
import { createProxies } from "./proxies.ts";

const proxyOf = (environment: Record<string, string>, url: string) => createProxies(environment).proxyOf(new URL(url));
const plain = { credentials: null, variable: "HTTPS_PROXY" };

describe("the proxy of a URL", () => {
	it.each([
		["no variable", {}, "https://a.test", null],
		["a variable for the scheme", { HTTPS_PROXY: "http://p:1" }, "https://a.test", "p:1 of HTTPS_PROXY"],
		["a variable for the other scheme", { HTTP_PROXY: "http://p:1" }, "https://a.test", null],
		["a variable for http", { HTTP_PROXY: "http://p:1" }, "http://a.test", "p:1 of HTTP_PROXY"],
		["a variable for all schemes", { ALL_PROXY: "http://p:1" }, "http://a.test", "p:1 of ALL_PROXY"],
		[
			"variables for all and for the scheme",
			{ ALL_PROXY: "http://p:1", HTTP_PROXY: "http://q:2" },
			"http://a.test",
			"q:2 of HTTP_PROXY",
		],
		["both cases", { HTTP_PROXY: "http://p:1", http_proxy: "http://q:2" }, "http://a.test", "q:2 of http_proxy"],
		[
			"an empty lower-case variable",
			{ HTTP_PROXY: "http://p:1", http_proxy: " " },
			"http://a.test",
			"p:1 of HTTP_PROXY",
		],
		["a lower-case variable for all schemes", { all_proxy: "http://p:1" }, "https://a.test", "p:1 of all_proxy"],
		["an exception", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.test" }, "http://a.test", null],
		["an exception in lower case", { HTTP_PROXY: "http://p:1", no_proxy: "a.test" }, "http://a.test", null],
	])("is found for %s", (_name, environment, url, expected) => {
		const proxy = proxyOf(environment, url);
		expect(proxy === null ? null : `${proxy.host}:${proxy.port} of ${proxy.variable}`).toBe(expected);
	});

	it.each([
		["http://proxy.test:3128", { protocol: "http", host: "proxy.test", port: 3128 }],
		["http://proxy.test", { protocol: "http", host: "proxy.test", port: 80 }],
		["proxy.test:3128", { protocol: "http", host: "proxy.test", port: 3128 }],
		["127.0.0.1:8080", { protocol: "http", host: "127.0.0.1", port: 8080 }],
		["HTTPS://proxy.test/", { protocol: "https", host: "proxy.test", port: 443 }],
		["https://proxy.test:80", { protocol: "https", host: "proxy.test", port: 80 }],
		["http://[::1]:3128", { protocol: "http", host: "::1", port: 3128 }],
		["socks://proxy.test", { protocol: "socks5", host: "proxy.test", port: 1080 }],
		["socks5://proxy.test:9050", { protocol: "socks5", host: "proxy.test", port: 9050 }],
		["socks5h://proxy.test:9050", { protocol: "socks5", host: "proxy.test", port: 9050 }],
	])("is parsed from %s", (value, expected) => {
		expect(proxyOf({ HTTPS_PROXY: value }, "https://a.test")).toEqual({ ...plain, ...expected });
	});

	it("can have credentials with any characters", () => {
		const proxy = proxyOf({ HTTPS_PROXY: "http://me%40home:p%3Aw%2F%zz@proxy.test" }, "https://a.test");
		expect(proxy?.credentials).toEqual({ user: "me@home", password: "p%3Aw%2F%zz" });
		expect(proxyOf({ HTTPS_PROXY: "http://me@p.test" }, "https://a.test")?.credentials).toEqual({
			user: "me",
			password: "",
		});
	});

	it.each([
		["socks4://me:secret@p", /^HTTPS_PROXY names an unsupported kind of proxy \(socks4\)/],
		["http://me:secret@", /^HTTPS_PROXY is not the URL of a proxy/],
		["http://p:99999999", /^HTTPS_PROXY is not the URL of a proxy/],
	])("is refused when it is %s, without quoting it", (value, message) => {
		const find = () => proxyOf({ HTTPS_PROXY: value }, "https://a.test");
		expect(find).toThrow(message);
		expect(find).not.toThrow("secret");
	});
});

describe("NO_PROXY", () => {
	it.each([
		["*", "http://a.test", true],
		["a.test", "http://a.test", true],
		["a.test", "http://A.TEST", true],
		["a.test", "http://b.a.test", true],
		["a.test", "http://ba.test", false],
		[".a.test", "http://a.test", true],
		[".a.test", "http://b.a.test", true],
		["*.a.test", "http://b.a.test", true],
		["x, a.test", "http://a.test", true],
		["x a.test", "http://a.test", true],
		["a.test.", "http://a.test", true],
		["a.test", "http://a.test.", true],
		["a.test:8080", "http://a.test:8080", true],
		["a.test:8080", "http://a.test", false],
		["a.test:80", "http://a.test", true],
		["a.test:443", "https://a.test", true],
		["127.0.0.1", "http://127.0.0.1:9", true],
		["127.0.0.1:9", "http://127.0.0.1:9", true],
		["127.0.0.1:8", "http://127.0.0.1:9", false],
		["10.0.0.0/8", "http://10.1.2.3", true],
		["10.0.0.0/8", "http://11.1.2.3", false],
		["10.0.0.0/99", "http://10.1.2.3", false],
		["10.0.0.0/", "http://10.1.2.3", false],
		["::1", "http://[::1]", true],
		["[::1]:9", "http://[::1]:9", true],
		["[::1]:9", "http://[::1]:8", false],
		["fd00::/8", "http://[fd12::1]", true],
		["fd00::/8", "http://name.test", false],
		["localhost", "http://localhost:11434", true],
		["", "http://a.test", false],
		[".", "http://a.test", false],
	])("%j excludes %s: %s", (list, url, expected) => {
		expect(proxyOf({ ALL_PROXY: "http://p:1", NO_PROXY: list }, url) === null).toBe(expected);
	});
});
