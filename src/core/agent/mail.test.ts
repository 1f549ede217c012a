import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, type ModelScript, say } from "../../../test/support/models/scripted-model.ts";
import {
	approveBy,
	createToolDouble,
	createTurnSubject,
	editNeed,
} from "../../../test/support/sessions/turn-subject.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import { createMailbox } from "../../kernel/turn/mailbox.ts";
import { createSendDMail } from "../tools/session/send-d-mail.ts";
import { Context, type ContextLog } from "./context.ts";
import type { TurnDependencies } from "./dependencies.ts";

const send = (checkpoint: number, message = "skip the log"): ModelScript => [
	call("m", "SendDMail", JSON.stringify({ message, checkpoint_id: checkpoint })),
	done(),
];

function createSubject(scripts: readonly ModelScript[], overrides: Partial<TurnDependencies> = {}) {
	const rows: ContextRow[] = [];
	const log: ContextLog = {
		change: async ({ kind, rows: changed }) =>
			void rows.splice(kind === "append" ? rows.length : 0, rows.length, ...changed),
	};
	const context = new Context(log, [], "Be brief.");
	const mailbox = createMailbox();
	mailbox.open(() => context.checkpointCount);
	const model = createScriptedModel(scripts);
	const tools = [createSendDMail({ mail: mailbox }), createToolDouble("Edit", { approval: editNeed })];
	const subject = createTurnSubject(model, tools, { context, mailbox, ...overrides });
	const results = () => subject.events.flatMap((event) => (event.type === "tool.result" ? [event.result] : []));
	return { ...subject, rows, model, context, results };
}

const words = (rows: readonly ContextRow[]) =>
	rows.map((row) => (row.type === "message" ? JSON.stringify(row.message.content) : row.type));

describe("mail to an earlier checkpoint", () => {
	it("rewinds the agent to the checkpoint, with the message and without anything later", async () => {
		const look: ModelScript = [call("c", "Look"), done()];
		const subject = createSubject([look, send(1), [say("done"), done()]]);
		expect(await subject.run()).toEqual({ status: "finished" });
		const request = subject.model.requests[2];
		const asked = JSON.stringify(request?.messages);
		expect(request?.messages.map(({ role }) => role)).toEqual(["user"]);
		expect(asked).toContain("skip the log");
		expect(asked).not.toContain("Look");
		expect(asked).toContain("CHECKPOINT 0");
		expect(subject.rows.filter((row) => row.type === "checkpoint").map((row) => row.id)).toEqual([0, 1, 2]);
		expect(words(subject.rows).filter((word) => word.includes("skip the log"))).toHaveLength(1);
	});

	it("shows each checkpoint to an agent with the tool, and to no other", async () => {
		const withMail = createSubject([[say("done"), done()]]);
		await withMail.run();
		expect(words(withMail.rows).filter((word) => word.includes("CHECKPOINT"))).toEqual([
			expect.stringContaining("<system>CHECKPOINT 0</system>"),
			expect.stringContaining("<system>CHECKPOINT 1</system>"),
		]);
		const without = createSubject([[say("done"), done()]], { mailbox: null });
		await without.run();
		expect(words(without.rows).some((word) => word.includes("CHECKPOINT"))).toBe(false);
	});

	it.each([
		["a checkpoint that is not there", '{"message":"x","checkpoint_id":2}', "Failed to send D-Mail"],
		["a negative one", '{"message":"x","checkpoint_id":-1}', "Invalid arguments"],
	])("refuses %s", async (_name, given, brief) => {
		const subject = createSubject([
			[call("m", "SendDMail", given), done()],
			[say("done"), done()],
		]);
		await subject.run();
		expect(subject.results()).toMatchObject([{ is_error: true, display: [{ type: "brief", text: brief }] }]);
	});

	it("accepts one message per step", async () => {
		const twice: ModelScript = [...send(0, "one").slice(0, 1), ...send(0, "two")];
		const subject = createSubject([twice, [say("done"), done()]]);
		await subject.run();
		expect(subject.results().map(({ is_error }) => is_error)).toEqual([false, true]);
		expect(JSON.stringify(subject.model.requests[1]?.messages)).toContain("one");
	});

	it("is discarded when a person rejected a call of the same step", async () => {
		const both: ModelScript = [...send(0).slice(0, 1), call("e", "Edit"), done()];
		const approve = approveBy({ e: { kind: "rejected", feedback: "" } });
		const subject = createSubject([both], { approve });
		expect(await subject.run()).toEqual({ status: "finished", stoppedBy: "refusal" });
		expect(subject.context.messages.some(({ role }) => role === "tool")).toBe(true);
	});
});
