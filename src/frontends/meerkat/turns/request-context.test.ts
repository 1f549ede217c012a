// What a request gives the model besides its prompt: blocks of context, skills, and whether it reasons.
import { describe, expect, it } from "vitest";
import { createSpokenServer } from "../../../../test/support/meerkat/spoken-server.ts";
import { isRecord } from "../../../base/json.ts";
import { createMemoryStore } from "../../../ports/store/memory/memory-store.ts";

type Fields = Readonly<Record<string, unknown>>;
type More = Parameters<typeof createSpokenServer>[2];

const serve = (more: More = {}) => createSpokenServer(["pong"], createMemoryStore(), more);
const resultOf = ({ result, error }: Fields) => {
	if (!isRecord(result)) throw new Error(`refused: ${JSON.stringify(error)}`);
	return result;
};
const idOf = (message: Fields) => String(resultOf(message)["session_id"]);
const messagesOf = (body: Fields | undefined): readonly unknown[] => {
	const messages: unknown = body?.["messages"];
	return Array.isArray(messages) ? messages : [];
};

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const image = { type: "image", media_type: "image/png", source: "inline", data: pixel };

describe("injected context in blocks", () => {
	it("reaches the model with its images, in the order given, and stays", async () => {
		const server = await serve({ capabilities: { m: ["image_in"] } });
		const injected_context = ["first", [{ type: "text", text: "see" }, image]];
		const session_id = idOf(await server.ask("session/create", { prompt: "one", injected_context }));
		const asked = JSON.stringify(messagesOf(server.bodies[0]).slice(1));
		expect(asked.indexOf("first")).toBeLessThan(asked.indexOf("see"));
		expect(asked).toContain(`data:image/png;base64,${pixel}`);
		expect(asked.indexOf(pixel)).toBeLessThan(asked.lastIndexOf('"one"'));
		await server.ask("turn/start", { session_id, prompt: "two" });
		expect(JSON.stringify(messagesOf(server.bodies[1]))).toContain(pixel);
		await server.end();
	});

	it("that the model cannot take fails the run, and leaves nothing in the conversation", async () => {
		const server = await serve();
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		const refused = await server.ask("turn/start", { session_id, prompt: "two", injected_context: ["INJ", [image]] });
		expect(refused["error"]).toMatchObject({ data: { code: "CAPABILITY_UNAVAILABLE" } });
		await server.ask("turn/start", { session_id, prompt: "three" });
		expect(JSON.stringify(messagesOf(server.bodies.at(-1)))).not.toContain("INJ");
		await server.end();
	});

	it.each(["x", [5], [[{ type: "audio" }]], [[{ type: "image", data: "?" }]]])(
		"of another form is refused by its name: %j",
		async (injected_context) => {
			const server = await serve();
			const { error } = await server.ask("session/create", { prompt: "one", injected_context });
			expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("injected_context") });
			await server.end();
		},
	);
});

const tidy = "---\nname: tidy\ndescription: Tidies.\n---\nPut everything in its place.";
const texts = { "/home/me/project/.kimi/skills/tidy/SKILL.md": tidy };

/** The key of the skill, as the list of them has it. */
async function keyOf(server: Awaited<ReturnType<typeof serve>>): Promise<Fields> {
	const { skills } = resultOf(await server.ask("skills/list"));
	const found = (Array.isArray(skills) ? skills : []).find(
		(each: unknown) => isRecord(each) && each["name"] === "tidy",
	);
	const key: unknown = isRecord(found) ? found["key"] : null;
	if (!isRecord(key)) throw new Error("There is no such skill.");
	return key;
}

describe("skills", () => {
	it("of a turn precede its prompt, and the client hears of them before the run", async () => {
		const server = await serve({ texts });
		const key = await keyOf(server);
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		expect(JSON.stringify(messagesOf(server.bodies[0]).slice(1))).not.toContain("in its place");
		const before = server.events().length;
		await server.ask("turn/start", { session_id, prompt: "two", skill_refs: [{ kind: "structured", ...key }] });
		const asked = JSON.stringify(messagesOf(server.bodies[1]).slice(1));
		expect(asked.indexOf("Put everything in its place.")).toBeGreaterThan(-1);
		expect(asked.indexOf("Put everything in its place.")).toBeLessThan(asked.indexOf("two"));
		expect(server.events()[before]?.["skills"]).toEqual([key]);
		expect(server.events().slice(before, before + 2)).toMatchObject([
			{ type: "skills_resolved", skills: [key], injection_bytes: Buffer.byteLength(tidy) },
			{ type: "run_started" },
		]);
		await server.end();
	});

	it("of a creation's first run, and one that there is not", async () => {
		const server = await serve({ texts });
		const key = await keyOf(server);
		await server.ask("session/create", { prompt: "one", skill_refs: [{ kind: "structured", ...key }] });
		expect(JSON.stringify(messagesOf(server.bodies[0]).slice(1))).toContain("Put everything in its place.");
		const other = { kind: "structured", ...key, skill_name: "nosuch" };
		const refused = await server.ask("session/create", { prompt: "one", skill_refs: [other] });
		expect(refused["error"]).toMatchObject({
			code: -32021,
			message: expect.stringContaining("nosuch"),
			data: { code: "SKILL_NOT_FOUND" },
		});
		const { sessions } = resultOf(await server.ask("session/list"));
		expect(sessions).toHaveLength(1);
		await server.end();
	});

	it("of a turn that there is not refuse it: neither is the model another one, nor are waiting events run", async () => {
		const server = await serve({ models: ["n"] });
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		const event = { kind: "generic_json", event_type: "build.done", payload: {} };
		await server.ask("session/external_event", { session_id, ...event });
		const skill_refs = [{ kind: "structured", source_uuid: "none", skill_name: "nosuch" }];
		const refused = await server.ask("turn/start", { session_id, prompt: "two", model: "n", skill_refs });
		expect(refused["error"]).toMatchObject({ data: { code: "SKILL_NOT_FOUND" } });
		expect(server.bodies).toHaveLength(1);
		await server.ask("turn/start", { session_id, prompt: "three" });
		expect(server.bodies.map(({ model }) => model)).toEqual(["m", "m", "m"]);
		await server.end();
	});

	it("that a session begins with end its system prompt for good; one that there is not is reported", async () => {
		const server = await serve({ texts });
		const key = await keyOf(server);
		const unknown = { ...key, skill_name: "nosuch" };
		const params = { prompt: "one", system_prompt: "You are X.", preload_skills: [key, unknown] };
		const session_id = idOf(await server.ask("session/create", params));
		await server.ask("turn/start", { session_id, prompt: "two" });
		for (const body of server.bodies) expect(messagesOf(body)[0]).toMatchObject({ content: `You are X.\n\n${tidy}` });
		expect(server.events().slice(0, 3)).toMatchObject([
			{ type: "skill_resolution_failed", skill_key: unknown, reason: { reason_type: "not_found", key: unknown } },
			{ type: "skills_resolved", skills: [key] },
			{ type: "run_started" },
		]);
		await server.end();
	});

	it("that a session without a run begins with are reported before its first run", async () => {
		const server = await serve({ texts });
		const key = await keyOf(server);
		const unknown = { ...key, skill_name: "nosuch" };
		const params = { prompt: "", initial_turn: "deferred", preload_skills: [key, unknown] };
		const session_id = idOf(await server.ask("session/create", params));
		for (const prompt of ["one", "two"]) await server.ask("turn/start", { session_id, prompt });
		const types = server.events().map(({ type }) => type);
		expect(types.slice(0, 3)).toEqual(["skill_resolution_failed", "skills_resolved", "run_started"]);
		expect(types.filter((type) => type === "skills_resolved")).toHaveLength(1);
		await server.end();
	});

	it.each([[{ source_uuid: "x", skill_name: "tidy" }], "tidy", [{ kind: "named", skill_name: "tidy" }]])(
		"of another form are refused by their name: %j",
		async (skill_refs) => {
			const server = await serve({ texts });
			const { error } = await server.ask("session/create", { prompt: "one", skill_refs });
			expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("skill_refs") });
			await server.end();
		},
	);
});

describe("reasoning", () => {
	const models = ["thinks", "always"];
	const capabilities = { thinks: ["thinking"], always: ["always_thinking"] };

	it("is switched on and off from a turn on, and left to the settings again", async () => {
		const server = await serve({ models, capabilities });
		const params = { prompt: "one", model: "thinks", provider_params: { reasoning: "emit" } };
		const session_id = idOf(await server.ask("session/create", params));
		const turn = (provider_params?: unknown) => server.ask("turn/start", { session_id, prompt: "go", provider_params });
		await turn();
		await turn({ reasoning: "off" });
		await turn({ reasoning: "silent" });
		await turn({ action: "clear" });
		expect(server.bodies.map(({ reasoning_effort }) => reasoning_effort)).toEqual([
			"high",
			"high",
			undefined,
			"high",
			undefined,
		]);
		await server.end();
	});

	it("that is silent is not sent, and the answer is", async () => {
		const says = ["<think>hm</think>one", "<think>hm</think>two"];
		const server = await createSpokenServer(says, createMemoryStore(), { models, capabilities });
		const provider_params = { reasoning: "silent" };
		const session_id = idOf(await server.ask("session/create", { prompt: "go", model: "thinks", provider_params }));
		expect(server.events().map(({ type }) => type)).not.toContain("reasoning_delta");
		expect(server.events().at(-1)).toMatchObject({ type: "run_completed", result: "one" });
		await server.ask("turn/start", { session_id, prompt: "go", provider_params: { reasoning: "emit" } });
		expect(server.events()).toContainEqual(expect.objectContaining({ type: "reasoning_complete", content: "hm" }));
		await server.end();
	});

	it.each([
		["m", "emit", "never reasons"],
		["m", "silent", "never reasons"],
		["always", "off", "always reasons"],
	])("of the model %s cannot be %s", async (model, reasoning, why) => {
		const server = await serve({ models, capabilities });
		const provider_params = { reasoning };
		const refused = await server.ask("session/create", { prompt: "one", model, provider_params });
		expect(refused["error"]).toMatchObject({ code: -32602, message: expect.stringContaining(why) });
		const session_id = idOf(await server.ask("session/create", { prompt: "one", model }));
		const later = await server.ask("turn/start", { session_id, prompt: "two", provider_params });
		expect(later["error"]).toMatchObject({
			code: -32602,
			message: expect.stringContaining("`provider_params.reasoning`"),
		});
		expect(server.bodies).toHaveLength(1);
		await server.end();
	});
});
