import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { silentLog } from "../../base/log.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import type { Sandbox, SandboxStatus } from "../../ports/sandbox/sandbox.ts";
import { toConfiguration } from "../../settings/config/configuration.ts";
import { configurationFileSchema } from "../../settings/config/schema.ts";
import { composeSandbox, composeUnaskedSandbox, providerKeys } from "./command-sandbox.ts";

const settingsOf = (table: object) => toConfiguration(v.parse(configurationFileSchema, table));
const roots = { workDir: "/work", additionalDirs: () => ["/more"] };

function createLazy(status: SandboxStatus) {
	const sandbox: Sandbox = {
		status: async () => status,
		confinementFor: async ({ workDir, additionalDirs }) => ({
			writable: [workDir, ...additionalDirs],
			scratch: [],
			readOnly: [],
			missingAsFiles: [],
			removed: [],
			visible: [],
			hidden: [],
			network: { kind: "none" },
		}),
		explainFailure: () => "Because.",
		close: async () => {},
	};
	return new OnFirstUse(async () => sandbox);
}

async function compose(table: object, status: SandboxStatus) {
	const place = { processes: noProcesses, sandbox: createLazy(status), shareDir: "/share", log: silentLog };
	return await composeSandbox(settingsOf({ sandbox: table }).sandbox, place, roots);
}

const names = (policies: readonly { readonly name: string }[]) => policies.map(({ name }) => name);

describe("the sandbox of a session", () => {
	it("is none unless the settings ask for one", async () => {
		const composed = await compose({}, { kind: "active", mode: "read-only" });
		expect(composed.tool).toBeNull();
		expect(composed.policies).toEqual([]);
		expect(await composed.confinementOf(false)).toBeNull();
	});

	it("confines commands to the roots of the session, background commands as well, unless they leave it", async () => {
		const { tool, policies, confinementOf } = await compose(
			{ mode: "workspace-write", auto_allow: true },
			{ kind: "active", mode: "workspace-write" },
		);
		expect(tool?.missing).toBeNull();
		expect(await confinementOf(false)).toMatchObject({ writable: ["/work", "/more"] });
		expect(await confinementOf(true)).toBeNull();
		expect(names(policies)).toEqual(["outside of the sandbox", "commands in the sandbox"]);
	});

	it("allows nothing by itself with a network, or without being asked to", async () => {
		const active = { kind: "active", mode: "workspace-write" } as const;
		const withNetwork = await compose({ mode: "workspace-write", auto_allow: true, network: "host" }, active);
		expect(names(withNetwork.policies)).toEqual(["outside of the sandbox"]);
		expect(names((await compose({ mode: "workspace-write" }, active)).policies)).toEqual(["outside of the sandbox"]);
	});

	it("that cannot be here is named, every command then counts as outside, and nothing is allowed by itself", async () => {
		const { tool, policies, confinementOf } = await compose(
			{ mode: "workspace-write", auto_allow: true },
			{ kind: "none", why: "there is no bwrap" },
		);
		expect(tool?.missing).toBe("there is no bwrap");
		expect(names(policies)).toEqual(["without the sandbox"]);
		expect(await confinementOf(false)).toBeNull();
	});
});

describe("the sandbox of a session whose commands nobody is asked about", () => {
	const composeUnasked = async (status: SandboxStatus | null) => {
		const place = { processes: noProcesses, shareDir: "/share", log: silentLog };
		const lazy = status === null ? undefined : createLazy(status);
		return await composeUnaskedSandbox(settingsOf({}).sandbox, lazy, place, roots);
	};

	it("confines commands, but not hooks", async () => {
		const { description, hookProcesses, processes } = await composeUnasked({ kind: "active", mode: "workspace-write" });
		expect(description).toEqual({ status: "active", why: null });
		expect(hookProcesses).toBe(noProcesses);
		expect(processes).not.toBe(noProcesses);
	});

	it.each([null, { kind: "none", why: "there is no bwrap" } as const])("falls back to none: %j", async (status) => {
		const { description, tool, policies, processes } = await composeUnasked(status);
		expect({ description, tool, policies }).toEqual({ description: null, tool: null, policies: [] });
		expect(processes).toBe(noProcesses);
	});
});

it("the keys of all providers and services are those that commands do not get", () => {
	const service = { base_url: "https://s.test", api_key: "three" };
	const providers = {
		a: { type: "kimi", base_url: "", api_key: "one" },
		b: { type: "kimi", base_url: "", api_key: "" },
	};
	expect(providerKeys(settingsOf({ providers, services: { moonshot_search: service } }))).toEqual(["one", "three"]);
});
