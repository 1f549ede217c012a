// Excludes transcripts with settings, commands or texts specific to this program.
import type { Move } from "../../testing/transcripts/format.ts";
import type { ConformanceDialect, Suite } from "../arguments/options/conformance-options.ts";

export const suites: Readonly<Record<ConformanceDialect, Readonly<Record<Suite, readonly string[]>>>> = {
	wire: {
		core: [
			...["plain-text", "without-handshake", "input-parts", "parallel-calls", "initialize-tools"],
			...[
				"client-tool",
				"client-tool-result",
				"question-answered",
				"subagent",
				"state-prompt-turn",
				"state-cancel-idle",
			],
			...["state-cancel-turn", "state-steer-idle", "state-steer-turn", "state-set-plan-mode-idle", "cancel-tool"],
		],
		approvals: [
			...["approve", "approve-write", "reject", "reject-with-feedback", "approve-for-session", "parallel-rejection"],
			...["cancel-two-approvals", "approval-wrong-id", "approval-error-reply", "approval-duplicate", "yolo"],
		],
		sessions: ["state-replay-idle", "replay-cancelled-turn", "resume-and-replay", "resume-session-approval", "clear"],
		faults: [
			...[
				"edge-ids",
				"edge-unknown-methods",
				"edge-not-an-object",
				"edge-bad-params",
				"edge-version",
				"provider-error",
			],
			...["client-tool-error-reply", "approval-malformed", "faulty-calls", "end-of-input-idle", "end-of-input-tool"],
		],
	},
	legacy: {
		core: ["run", "run-busy", "run-prompt-alias", "interrupt-idle", "interrupt-tool"],
		approvals: ["approve", "reject", "approve-for-session", "duplicate-answer"],
		sessions: [],
		faults: ["run-bad-params", "unknown-method", "provider-error", "end-of-input"],
	},
	meerkat: {
		core: ["life", "tools", "no-tools", "streams", "inputs", "interrupt-tool", "client-tool", "question"],
		approvals: ["approval", "approval-rejected", "approval-malformed", "creator-decides"],
		sessions: ["deferred", "history", "archive-running"],
		faults: ["busy", "id-spellings", "end-of-input"],
	},
	acp: {
		core: ["turn", "versions", "many-parts", "cancel-tool", "cancel-before", "subagent", "command-output"],
		approvals: [
			"permission-answers",
			"permission-for-session",
			"permission-two",
			"permission-diff",
			"cancel-permission",
		],
		sessions: ["load", "load-cancelled-turn", "unprompted", "close", "delete"],
		faults: ["unknown-session", "provider-failed", "end-of-input"],
	},
	claude: {
		core: ["turn", "command", "partial-messages", "interrupt", "client-tool"],
		approvals: ["permission-allow", "permission-deny", "permission-interrupt"],
		sessions: [],
		faults: ["unknown-control", "model-failed", "end-of-input"],
	},
	codex: {
		core: ["turn", "command", "interrupt"],
		approvals: ["accept", "decline", "accept-for-session", "cancel"],
		sessions: ["resume", "fork"],
		faults: ["errors", "model-failed", "end-of-input"],
	},
	"codex-exec": {
		core: ["turn", "command", "command-failed", "file-change", "output-schema"],
		approvals: [],
		sessions: ["resume"],
		faults: ["model-failed", "empty-prompt", "unknown-flag"],
	},
	gateway: {
		core: ["turn", "cancel", "operations"],
		approvals: ["approve", "reject"],
		sessions: ["sessions"],
		faults: ["errors", "model-failed"],
	},
};

export const folderOf = (dialect: ConformanceDialect): string => (dialect === "wire" ? "kimi" : dialect);

/** The opening messages of Kimi Wire clients. Transcripts omit them, because our server does not require them. */
export const wireOpening: readonly Move[] = [
	{
		kind: "send",
		line: 0,
		bytes: '{"jsonrpc":"2.0","id":"initialize","method":"initialize","params":{"protocol_version":"1.10"}}\n',
		repeat: 1,
	},
	{ kind: "receive", line: 0, text: '{"jsonrpc":"2.0","id":"initialize","result":{}}' },
];

/** Scenarios with a client that omits them. */
export const withoutOpening: readonly string[] = ["kimi/without-handshake"];
