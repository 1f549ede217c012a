import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createHost } from "../../../test/support/sessions/session-host.ts";
import type { SessionsApi } from "../../api/kernel.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { Interaction } from "../../api/values/interaction.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import { plainRequest } from "../../kernel/hosting/hosted-options.ts";
import { locateNamedProgram, readNamedProgram } from "../arguments/named-program.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { runNoticeCommand } from "./notice-command.ts";
import { limitSpan, lookSpan, type Notice, Notices, noticeLimit, noticePatience } from "./notices.ts";

const approval = (id: string): Interaction => ({
	kind: "approval",
	id,
	toolCallId: "c",
	sender: "Shell",
	action: "run command",
	description: "Run `touch made`",
	sourceKind: null,
	sourceId: null,
	agentId: null,
	subagentType: null,
	sourceDescription: null,
	display: [],
});
const question = (id: string): Interaction => ({
	kind: "question",
	id,
	toolCallId: "c",
	questions: [
		{
			question: "Which?",
			header: "",
			options: [],
			multi_select: false,
			body: "",
			other_label: "",
			other_description: "",
		},
	],
});

/** A session in which somebody can be asked. */
async function createSubject() {
	const { host } = await createHost();
	const clock = createFakeClock();
	const handle = await host.create({ ...plainRequest, tools: "all" });
	const { id, workDir } = handle.session;
	const open: AgentEvent[] = [];
	const running = new Set([id]);
	const acquired: string[] = [];
	const sessions: Pick<SessionsApi, "loaded" | "acquire"> = {
		loaded: async () => (await host.loaded()).map((info) => ({ ...info, isRunning: running.has(info.id) })),
		async acquire(asked) {
			acquired.push(asked);
			const real = await host.acquire(asked);
			const session = Object.create(real.session, {
				snapshot: { value: async () => ({ ...(await real.session.snapshot()), openInteractions: [...open] }) },
			});
			return { ...real, session, release: () => real.release() };
		},
	};
	const sent: Notice[] = [];
	const sending = createDeferred<void>();
	const state = { isSlow: false };
	const notices = new Notices({
		sessions,
		clock,
		log: silentLog,
		async send(notice) {
			sent.push(notice);
			if (state.isSlow) await sending.promise;
		},
	});
	const ask = (interaction: Interaction) =>
		void open.push({
			sessionId: id,
			turnId: "t",
			agentPath: [],
			at: clock.now(),
			body: { type: "interaction.requested", interaction },
		});
	return {
		running,
		acquired,
		notices,
		clock,
		ask,
		open,
		sent,
		state,
		sending,
		place: { sessionId: id, workDir, title: "" },
	};
}

describe("notices", () => {
	it("report what has waited for an answer, once", async () => {
		const { notices, clock, ask, sent, place } = await createSubject();
		const waitingSince = clock.now();
		ask(approval("a"));
		await notices.look();
		expect(sent).toEqual([]);
		clock.advance(noticePatience);
		ask(question("q"));
		await notices.look();
		await notices.look();
		expect(sent).toEqual([
			{ ...place, kind: "approval", interactionId: "a", text: "Shell: Run `touch made`", waitingSince },
		]);
		clock.advance(noticePatience);
		await notices.look();
		expect(sent.slice(1)).toMatchObject([{ kind: "question", interactionId: "q", text: "Which?" }]);
	});

	it("report nothing that was answered in time, and nothing that programs answer", async () => {
		const { notices, clock, ask, open, sent } = await createSubject();
		ask(approval("a"));
		await notices.look();
		open.length = 0;
		ask({ kind: "client-tool", id: "t", toolCallId: "c", name: "x", arguments: null });
		clock.advance(noticePatience);
		await notices.look();
		expect(sent).toEqual([]);
	});

	it("also come after the turn, and sessions in which nothing runs are left alone", async () => {
		const { notices, clock, ask, open, sent, running, acquired } = await createSubject();
		ask(approval("a"));
		await notices.look();
		running.clear();
		clock.advance(noticePatience);
		await notices.look();
		expect(sent).toHaveLength(1);
		open.length = 0;
		await notices.look();
		const looks = acquired.length;
		await notices.look();
		expect(acquired).toHaveLength(looks);
	});

	it("are bounded in number, in length and at once", async () => {
		const { notices, clock, ask, sent, state, sending } = await createSubject();
		for (let n = 0; n < 30; n += 1) ask({ ...approval(`a${n}`), description: "x".repeat(5000) } as Interaction);
		clock.advance(noticePatience);
		state.isSlow = true;
		await notices.look();
		expect(sent).toHaveLength(2);
		expect(sent[0]?.text).toHaveLength(1000);
		state.isSlow = false;
		sending.resolve();
		for (let look = 0; look < 20; look += 1) await notices.look();
		expect(sent).toHaveLength(noticeLimit);
		clock.advance(limitSpan);
		for (let look = 0; look < 20; look += 1) await notices.look();
		expect(sent).toHaveLength(2 * noticeLimit);
		expect(new Set(sent.map(({ interactionId }) => interactionId)).size).toBe(2 * noticeLimit);
	});

	it("are looked for as long as they are not stopped", async () => {
		const { notices, clock, ask, sent } = await createSubject();
		ask(approval("a"));
		clock.advance(noticePatience);
		notices.start();
		clock.advance(lookSpan);
		await expect.poll(() => sent.length).toBe(1);
		notices.stop();
		ask(approval("b"));
		clock.advance(noticePatience);
		clock.advance(lookSpan);
		await Promise.resolve();
		expect(sent).toHaveLength(1);
	});
});

describe("readNamedProgram", () => {
	it("reads a program, or a list of it and its arguments, and no shell", () => {
		expect(readNamedProgram("--notify", "/a b/notify; rm -rf x")).toEqual({
			file: "/a b/notify; rm -rf x",
			arguments: [],
		});
		expect(readNamedProgram("--notify", '["notify-send", "-u", "$(x)"]')).toEqual({
			file: "notify-send",
			arguments: ["-u", "$(x)"],
		});
	});

	it.each(["[", "[]", "[1]", '[""]', '["a", null]'])("refuses %s", (value) => {
		expect(() => readNamedProgram("--notify", value)).toThrow(UsageError);
	});
});

describe("locateNamedProgram", () => {
	it("finds a program by its path from here, or in the directories of PATH, and names the flag where there is none", async () => {
		const directory = await mkdtemp(path.join(tmpdir(), "programs-"));
		onTestFinished(() => rm(directory, { recursive: true, force: true }));
		const file = path.join(directory, "notify");
		await writeFile(file, "", { mode: 0o755 });
		await writeFile(path.join(directory, "text"), "", { mode: 0o644 });
		const locate = (name: string) =>
			locateNamedProgram("--notify", { file: name, arguments: ["x"] }, directory, `/nowhere:${directory}`);
		for (const name of ["notify", "./notify", file]) expect(locate(name)).toEqual({ file, arguments: ["x"] });
		expect(() => locate("other")).toThrow(
			new UsageError(
				"--notify names a program that was not found in the directories of PATH or is not executable: other",
			),
		);
		expect(() => locate("./text")).toThrow(
			new UsageError(`--notify names a program that was not found from ${directory} or is not executable: ./text`),
		);
	});
});

describe("runNoticeCommand", () => {
	const notice: Notice = {
		kind: "approval",
		sessionId: "s",
		interactionId: "i",
		workDir: "/work",
		title: "T",
		text: "a\0$(b)\n",
		waitingSince: 5,
	};

	it("gives the program what waits on stdin and in its environment, and logs what goes wrong", async () => {
		const requests: unknown[] = [];
		const warnings: string[] = [];
		const processes = {
			async run(request: object) {
				requests.push(request);
				return {
					ended: { kind: "exited", exitCode: 3 } as const,
					output: "",
					errorOutput: "",
					outputBytes: 0,
					truncated: false,
					spilledTo: null,
				};
			},
		};
		const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
		const { signal } = new AbortController();
		await runNoticeCommand({ file: "tell", arguments: ["-x"] }, notice, {
			processes,
			workDir: "/home",
			environment: { PATH: "/bin" },
			log,
			signal,
		});
		expect(requests).toEqual([
			{
				file: "tell",
				arguments: ["-x"],
				workDir: "/home",
				environment: {
					PATH: "/bin",
					AGENTWIRE_NOTICE_KIND: "approval",
					AGENTWIRE_NOTICE_SESSION: "s",
					AGENTWIRE_NOTICE_INTERACTION: "i",
					AGENTWIRE_NOTICE_WORK_DIR: "/work",
					AGENTWIRE_NOTICE_TITLE: "T",
					AGENTWIRE_NOTICE_TEXT: "a $(b)\n",
					AGENTWIRE_NOTICE_WAITING_SINCE: "5",
				},
				input: `${JSON.stringify(notice)}\n`,
				timeout: 10_000,
				outputLimit: 1000,
			},
		]);
		expect(warnings).toEqual(["The --notify command failed."]);
	});
});
