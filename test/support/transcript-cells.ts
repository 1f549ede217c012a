// What the golden transcripts have to cover, taken from the tables of the product where it has them and from the
// protocol text where it does not. The gate compares it with the `covers:` marks.
import { errorNumbers as kimiErrors } from "../../src/dialects/kimi/errors.ts";
import { olderEvents } from "../../src/dialects/kimi/protocol.ts";
import { errorNumbers as legacyErrors } from "../../src/dialects/legacy/errors.ts";
import { legacyProtocol } from "../../src/dialects/legacy/protocol.ts";
import { messageDeclarations } from "../../src/messages/message.ts";
import { meerkatCells } from "./meerkat-cells.ts";

/** The rows of wire-protocol §1.3, with those of §1.1, §1.2 and §11.1 that concern a line. */
const edges = words(`
	blank-line white-space-line not-json nan byte-order-mark trailing-garbage
	array batch null number string
	empty-object version-only result-without-id error-with-null-id
	id-integer id-fraction id-boolean id-null-known-method id-empty-string known-method-without-id
	jsonrpc-absent jsonrpc-null jsonrpc-number jsonrpc-other
	method-number method-with-result unknown-keys duplicate-keys duplicate-client-ids
	response-unknown-id-result response-unknown-id-error response-without-content response-error-null
	response-method-null response-error-empty response-error-code-fraction response-error-code-numeric-string
	response-error-null-with-result
	unknown-method method-event method-request method-empty unknown-method-without-id
	bad-params bad-hooks unknown-content-part-prompt unknown-content-part-steer
	cancel-params-absent cancel-params-object cancel-params-array cancel-params-string
	invalid-utf8 carriage-return line-separators lone-surrogate non-ascii last-line-without-newline oversized-line
`);

/** The rows of §5.1 to §5.3, malformed in every way a result can be. */
const outcomes = words(`
	approval/error-reply approval/malformed-null approval/malformed-text approval/malformed-list
	approval/malformed-missing-request-id approval/malformed-request-id-number approval/malformed-missing-response
	approval/malformed-unknown-response approval/malformed-response-number approval/malformed-feedback-number
	approval/extra-keys approval/mismatched-request-id approval/envelope-variants approval/wrong-id
	approval/duplicate approval/late approval/cancel approval/late-after-cancel
	approval/end-of-input approval/end-of-input-several approval/deadline approval/event-form
	approval/event-form-later-name approval/event-form-malformed
	approval/background approval/background-cancel approval/background-repeated-initialize
	approval/background-end-of-input
	client-tool/error-reply client-tool/malformed-null client-tool/malformed-text
	client-tool/malformed-missing-tool-call-id client-tool/malformed-tool-call-id-number
	client-tool/malformed-missing-return-value client-tool/malformed-missing-is-error
	client-tool/malformed-missing-output client-tool/malformed-missing-message client-tool/malformed-missing-display
	client-tool/malformed-is-error-text client-tool/malformed-unknown-part client-tool/malformed-display-text
	client-tool/extra-keys client-tool/mismatched-tool-call-id client-tool/wrong-id client-tool/duplicate
	client-tool/late client-tool/cancel client-tool/late-after-cancel client-tool/end-of-input client-tool/deadline
	question/empty question/error-reply question/malformed-null question/malformed-list-value
	question/malformed-missing-answers question/malformed-missing-request-id
	question/event-form question/cancel question/late-after-cancel question/deadline question/end-of-input
	hook/error-reply hook/malformed-null hook/malformed-unknown-action hook/malformed-missing-request-id
	hook/malformed-reason-number hook/absent-action hook/deadline hook/late hook/cancel
`);

/** §2.2 to §2.7, §4.3 to §4.13, §8.2. */
const scenarios = words(`
	plain input-list input-empty image-part call-extras without-handshake
	initialize-repeated initialize-lenient version-not-negotiated initialize-tools initialize-replaces-tools
	initialize-with-open-approval
	approve approve-edit approve-for-session approve-for-session-sibling session-approval-resumed
	reject reject-with-feedback feedback-ignored-when-approved reject-beside-parallel yolo
	parallel-calls identical-calls repetition-guard repeated-call-id streamed-arguments approval-before-second-call
	unknown-tool malformed-arguments schema-violation
	client-tool client-tool-error client-tool-display client-tool-schema-violation client-tool-without-arguments
	client-tool-image
	cancel-mid-stream cancel-mid-tool cancel-mid-retry cancel-open-approval cancel-open-approvals
	cancel-open-client-tool cancel-twice cancel-reuses-id
	end-of-input end-of-input-idle end-of-input-mid-tool
	max-steps budget-tokens budget-resumed budget-tool-calls budget-time
	retry retry-causes retries-exhausted one-attempt retry-abandons-calls provider-error scripts-exhausted
	internal-error login-expired no-model unknown-model missing-capability capability-there
	steer-string steer-list steer-keeps-turn steer-overrides-rejection steer-capability
	pipelined-initialize-prompt pipelined-prompts pipelined-steer pipelined-cancel
	question-answered question-several question-free-text question-unsupported question-afk question-yolo afk slash-without-model replay-question
	plan-mode-unchanged plan-enter-yes plan-enter-no plan-enter-dismissed plan-enter-yolo plan-enter-afk plan-unsupported
	plan-exit-approve plan-exit-option plan-exit-reject plan-exit-reject-and-exit plan-exit-revise plan-exit-dismissed
	plan-exit-without-plan plan-exit-afk plan-exit-yolo plan-edits plan-restart plan-flag plan-default plan-not-supported
	hook-client-allow hook-client-block hook-subscriptions hook-repeated-initialize
	hook-command-exit-2 hook-command-json hook-command-crash hook-command-timeout hook-command-fail-closed
	hook-first-reason hook-untold hook-prompt-block hook-stop-block hook-stop-cancel hook-subagent-prompt hook-subagent-stop
	hook-post-tool hook-post-tool-error hook-stop-failure hook-session
	subagent subagent-short-report subagent-approve subagent-reject subagent-approve-for-session subagents-at-once
	subagent-resumed subagent-failed subagent-cancelled subagent-cancelled-approval
	background-command background-command-in-turn background-agent background-tools
	media-image media-unsupported media-absent
	compact compact-empty compact-focus compact-failed compact-without-model auto-compaction auto-compaction-failed
	skill skill-arguments skill-unknown flow flow-rejected flow-cancelled flow-failed loop loop-limit
	slash-add-dir slash-export slash-import clear clear-without-model slash-yolo slash-yolo-flag slash-afk init init-cancelled
	side-question side-question-beside-turn side-question-failed side-question-end-of-input side-question-cancelled
	side-question-steered side-question-capped side-question-replayed side-question-hook
	mcp-loading mcp-failed mcp-lost mcp-collision mcp-approve mcp-loading-cancelled
	resume replay-counts replay-empty replay-everything replay-client-tool replay-cancelled
`);

/** The rows of §7.4. */
const choices = words(`
	run interrupt initialize prompt cancel replay steer set_plan_mode malformed-then-run unknown-then-run
`);

/** What older clients are sent: §7.4, and the extra field. */
const older = words(`
	max-events max-events-environment max-events-replay max-events-first max-events-cancelled max-events-requests
	max-events-subagent
	typed-parts typed-parts-environment typed-parts-subagent
	former-names former-names-environment
	declared-before-1.6 declared-1.6 undeclared
`);

/** §7.1. */
const legacyScenarios = words(`
	prompt-alias retry-untold max-steps budget cancelled interrupt-notification interrupt-tool absent-keys media-part
	tool-result-not-ok side-question
`);
const legacyOutcomes = words(`
	approve approve_for_session reject error-reply unknown-value missing-value duplicate wrong-id interrupt end-of-input
`);
const legacySilences = words(`
	blank-line not-json array scalar jsonrpc-absent jsonrpc-other unknown-key id-number params-list params-null
	result-text method-number response-without-content response-unknown-id empty-object
	unknown-notification run-without-id malformed-answer oversized-line
`);

const states = { kimi: ["idle", "turn", "replay"], legacy: ["idle", "running"] } as const;

/** Every cell as `kind cell`; `methods` are those of the product's method tables. */
export function requiredCells(methods: {
	readonly kimi: readonly string[];
	readonly legacy: readonly string[];
	readonly meerkat: readonly string[];
}): ReadonlySet<string> {
	const messages = Object.keys(messageDeclarations);
	return new Set([
		...methods.kimi.flatMap((method) => states.kimi.map((state) => `state ${method}/${state}`)),
		...methods.legacy.flatMap((method) => states.legacy.map((state) => `legacy-state ${method}/${state}`)),
		...all("edge", edges),
		...all("outcome", outcomes),
		...all("scenario", scenarios),
		...all("choice", choices),
		...all("older", older),
		...all("event", [...messages, ...Object.keys(olderEvents)]),
		...all("replayed", messages),
		...all("error", kimiErrorCells()),
		...all("legacy-event", [...Object.keys(legacyProtocol.events), ...Object.keys(legacyProtocol.requests)]),
		...all("legacy-error", [...numbers(legacyErrors), "-32601"]),
		...all("legacy-scenario", legacyScenarios),
		...all("legacy-outcome", legacyOutcomes),
		...all("legacy-silence", legacySilences),
		...meerkatCells(methods.meerkat),
	]);
}

/** The wrong-state number and the envelope number have several texts, each a cell of its own (§1.7). */
function kimiErrorCells(): string[] {
	const texts: Readonly<Record<string, readonly string[]>> = {
		"-32000": ["-32000/busy", "-32000/no-turn"],
		"-32600": ["-32600/request", "-32600/response"],
	};
	const codes = [...numbers(kimiErrors), "-32700", "-32600", "-32601"];
	return codes.flatMap((number) => texts[number] ?? [number]);
}

function numbers(table: Readonly<Record<string, { readonly code: number }>>): string[] {
	return [...new Set(Object.values(table).map(({ code }) => String(code)))];
}

function all(kind: string, cells: readonly string[]): string[] {
	return cells.map((cell) => `${kind} ${cell}`);
}

function words(text: string): string[] {
	return text.trim().split(/\s+/);
}
