import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { findOtherClients, findPlatformFetch } from "./bundle-check.ts";

const source = fileURLToPath(new URL("../src", import.meta.url));

it("nothing of the product makes a request other than through the network port", async () => {
	const files = readdirSync(source, { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
		.map((file) => path.join(source, file));
	// The client connects to a gateway from programs that have no kernel.
	expect(await findPlatformFetch(files)).toEqual([path.join(source, "client", "http.ts")]);
});

it("the platform's fetch is distinguished from one that was given, and another client by its traces", async () => {
	const folder = mkdtempSync(path.join(tmpdir(), "agentwire-bundle-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const write = (name: string, text: string) => {
		writeFileSync(path.join(folder, name), text);
		return path.join(folder, name);
	};
	const guilty = [
		write("a-call.cjs", 'exports.a = () => fetch("http://a.test");'),
		write("b-default.mjs", "export const b = (given) => given ?? globalThis.fetch;"),
		write("c-both.cjs", 'const { fetch: own } = require("undici"); exports.c = (f = fetch) => f(own);'),
	];
	const innocent = [
		write("d-given.cjs", "exports.d = ({ fetch }) => fetch();"),
		write("e-type.ts", "export type E = typeof fetch; export const e = (client: { fetch: E }) => client.fetch;"),
		write("f-text.mjs", 'export const f = "fetch(undici)"; // fetch()'),
	];
	expect(await findPlatformFetch([...guilty, ...innocent])).toEqual(guilty);
	expect(findOtherClients([...guilty, ...innocent])).toEqual([guilty[2]]);
});
