// What happened elsewhere gets a run of its own, before that of the next prompt.
import { describe, expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { isRecord } from "../../base/json.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

type Fields = Readonly<Record<string, unknown>>;
type Server = Awaited<ReturnType<typeof createSpokenServer>>;

const resultOf = ({ result, error }: Fields) => {
	if (!isRecord(result)) throw new Error(`refused: ${JSON.stringify(error)}`);
	return result;
};
const notify = (server: Server, session_id: string, more: object = {}) =>
	server.ask("session/external_event", {
		session_id,
		kind: "generic_json",
		event_type: "build.done",
		payload: { text: "EXT", ok: true },
		...more,
	});
const begin = async (server: Server) =>
	String(resultOf(await server.ask("session/create", { prompt: "hi" }))["session_id"]);
const given =
	'External event via build.done\nExternal event via build.done: build.done\nPayload: {\n  "ok": true,\n  "text": "EXT"\n}';
const messagesOf = (body: Fields | undefined) => JSON.stringify(body?.["messages"]);

describe("external events", () => {
	it("begin no run by themselves, and become one run before that of the next prompt", async () => {
		const server = await createSpokenServer(["pong", "noted", "answer", "more"], createMemoryStore());
		const session_id = await begin(server);
		await notify(server, session_id);
		await notify(server, session_id, { blocks: [{ type: "text", text: "EXT-BLOCK" }] });
		expect(server.bodies).toHaveLength(1);
		const before = server.events().length;
		const answer = await server.ask("turn/start", { session_id, prompt: "now" });
		expect(resultOf(answer)).toMatchObject({ text: "answer", turns: 1 });
		const runs = server.events().slice(before);
		const started = runs.filter(({ type }) => type === "run_started");
		expect(started).toMatchObject([
			{
				input: {
					content: [
						{ type: "text", text: given },
						{ type: "text", text: given.replace("Payload", "EXT-BLOCK\nPayload") },
					],
				},
			},
			{ input: { content: "now" }, identity: { turn_input: "typed_text" } },
		]);
		expect(started[0]?.["identity"]).toEqual({ run_id: expect.any(String) });
		expect(runs.filter(({ type }) => type === "run_completed").map(({ result }) => result)).toEqual([
			"noted",
			"answer",
		]);
		expect(messagesOf(server.bodies[1])).toContain("EXT-BLOCK");
		await server.ask("turn/start", { session_id, prompt: "later" });
		expect(server.bodies).toHaveLength(4);
		await server.end();
	});

	it("are taken once under a key, whatever the order of the payload's members", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore());
		const session_id = await begin(server);
		const first = resultOf(await notify(server, session_id, { idempotency_key: "k" }));
		const again = await notify(server, session_id, { idempotency_key: "k", payload: { ok: true, text: "EXT" } });
		expect(resultOf(again)).toMatchObject({ outcome_type: "deduplicated", existing_id: first["input_id"] });
		const other = await notify(server, session_id, { idempotency_key: "k", payload: { ok: false } });
		expect(other["error"]).toMatchObject({ data: { code: "INPUT_IDEMPOTENCY_CONFLICT" } });
		await server.ask("turn/start", { session_id, prompt: "now" });
		expect(messagesOf(server.bodies[1])?.split("EXT").length).toBe(2);
		const late = resultOf(await notify(server, session_id, { idempotency_key: "k" }));
		expect(late).toMatchObject({ outcome_type: "deduplicated" });
		await server.end();
	});

	it("wait for a later process, and their run does not hold up the prompt when it fails", async () => {
		const store = createMemoryStore();
		const first = await createSpokenServer(["pong"], store);
		const session_id = await begin(first);
		await notify(first, session_id);
		await first.end();
		const image = { type: "image", media_type: "image/png", source: "inline", data: "AAAA" };
		const second = await createSpokenServer(["answer"], store);
		// The model takes no images: the run of the events fails.
		await notify(second, session_id, { blocks: [image] });
		const answer = await second.ask("turn/start", { session_id, prompt: "now" });
		expect(resultOf(answer)).toMatchObject({ text: "answer" });
		expect(
			second
				.events()
				.map(({ type }) => type)
				.filter((type) => String(type).startsWith("run_")),
		).toEqual(["run_started", "run_failed", "run_started", "run_completed"]);
		await second.end();
	});

	it("before the first turn of a session leave it the prompt that it was created with, also in a later process", async () => {
		const store = createMemoryStore();
		const first = await createSpokenServer(["noted", "answer", "more"], store);
		const deferred = { prompt: "STAGED", initial_turn: "deferred" };
		const session_id = String(resultOf(await first.ask("session/create", deferred))["session_id"]);
		await notify(first, session_id);
		const unknown = { kind: "structured", source_uuid: "none", skill_name: "none" };
		await first.ask("turn/start", { session_id, prompt: "now", skill_refs: [unknown] });
		await first.end();
		const second = await createSpokenServer(["answer"], store);
		await second.ask("turn/start", { session_id, prompt: "now" });
		await second.ask("turn/start", { session_id, prompt: "later" });
		const inputs = [...first.events(), ...second.events()].flatMap(({ type, input }) =>
			type === "run_started" && isRecord(input) ? [input["content"]] : [],
		);
		expect(inputs).toEqual([given, "STAGED\n\nnow", "later"]);
		await second.end();
	});

	it("whose payload nests too deeply to be written out are refused by its name", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore());
		const session_id = await begin(server);
		const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
		for (const levels of [101, 5000]) {
			const { error } = await notify(server, session_id, { payload: nested(levels) });
			expect(error).toMatchObject({
				code: -32602,
				message: "Invalid params: payload: must nest at most 100 levels",
			});
		}
		expect(resultOf(await notify(server, session_id, { payload: nested(100) }))).toMatchObject({
			outcome_type: "accepted",
		});
		await server.end();
	});

	it("reach the model with their images", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore(), { capabilities: { m: ["image_in"] } });
		const session_id = await begin(server);
		await notify(server, session_id, {
			blocks: [{ type: "image", media_type: "image/png", source: "inline", data: "iVBORw0KGgo=" }],
		});
		await server.ask("turn/start", { session_id, prompt: "now" });
		expect(messagesOf(server.bodies[1])).toContain("data:image/png;base64,iVBORw0KGgo=");
		await server.end();
	});
});
