// What the public registry of agents is given about this program: it follows its rules, and says what the program is.
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { isRecord } from "../../src/base/json.ts";
import { acpDialect } from "../../src/frontends/acp/dialect.ts";
import { createMemoryStore } from "../../src/ports/store/memory/memory-store.ts";
import { createGatedProvider } from "../support/models/gated-provider.ts";
import { createHostedServer } from "../support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../support/store/memory-files.ts";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
const version = v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/));
const text = v.pipe(v.string(), v.nonEmpty());
const agentSchema = v.strictObject({
	id: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/)),
	name: text,
	version,
	description: text,
	repository: v.optional(v.pipe(v.string(), v.url())),
	authors: v.optional(v.array(text)),
	license: v.optional(text),
	distribution: v.strictObject({
		npx: v.strictObject({ package: text, args: v.array(v.string()), env: v.optional(v.record(text, v.string())) }),
	}),
});

it("the entry for the registry says what the package is", async () => {
	const agent = v.parse(agentSchema, JSON.parse(await read("registry/agentwire/agent.json")));
	const published = v.parse(
		v.object({ name: text, version, license: text, bin: v.record(text, text) }),
		JSON.parse(await read("package.json")),
	);
	expect(agent.id).toBe("agentwire");
	expect(agent.version).toBe(published.version);
	expect(agent.license).toBe(published.license);
	expect(agent.distribution.npx.package).toBe(`${published.name}@${published.version}`);
	// npx runs the executable that is named as the package is.
	expect(published.bin).toHaveProperty(published.name);
	expect(agent.distribution.npx.args).toEqual(["acp"]);
});

it("the icon is 16 by 16 and takes its color from where it is shown", async () => {
	const icon = await read("registry/agentwire/icon.svg");
	expect(icon).toMatch(/<svg [^>]*width="16" height="16" viewBox="0 0 16 16"/);
	const colors = [...icon.matchAll(/(?:fill|stroke|color|stop-color)="([^"]*)"/g)].map(([, color]) => color);
	expect(new Set(colors)).toEqual(new Set(["none", "currentColor"]));
	expect(icon).not.toMatch(/style|<script|<image|href|url\(/);
});

it("an editor is offered a way to sign in, as the registry requires", async () => {
	const server = await createHostedServer({
		...{ files: createMemoryFiles(), store: createMemoryStore(), clock: systemClock, agentwire: {} },
		...{ fetch: createGatedProvider(true).fetch, dialect: acpDialect },
	});
	server.client.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n');
	const answer: unknown = JSON.parse((await server.client.read()) ?? "null");
	const result = isRecord(answer) && isRecord(answer["result"]) ? answer["result"] : {};
	expect(result["authMethods"]).toContainEqual(
		expect.objectContaining({ id: expect.any(String), name: expect.any(String) }),
	);
	server.client.end();
	await server.serving.finish();
	await server.close();
});
