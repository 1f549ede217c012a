import type { PublicEvent } from "../index.ts";

type Of<T extends PublicEvent["type"]> = Extract<PublicEvent, { readonly type: T }>;

/** Null for events that are not in transcripts. */
export function createPrinter(): (event: PublicEvent) => string | null {
	const calls = new Map<string, number>();
	/** Calls are numbered, because ids come from the model. */
	const toCall = (id: string): string => {
		const n = calls.get(id) ?? calls.size + 1;
		calls.set(id, n);
		return `#${n}`;
	};
	return (event) => {
		switch (event.type) {
			case "turn.started":
				return `prompt ${toText(event.input)}`;
			case "steer.consumed":
				return `steer ${toText(event.input)}`;
			case "step.started":
				return `step ${event.n}`;
			case "step.retrying":
				return `retry ${event.next_attempt} of ${event.max_attempts}: ${event.error_type}`;
			case "content.completed":
				return toContent(event.part);
			case "tool.requested":
				return `call ${toCall(event.call.id)} ${event.call.function.name} ${event.call.function.arguments ?? ""}`.trimEnd();
			case "permission.decided":
				return `permission ${toCall(event.toolCallId)} ${event.decision} by ${event.by}: ${event.reason}`;
			case "interaction.requested":
				return toRequest(event, toCall);
			case "interaction.resolved":
				return toAnswer(event);
			case "tool.result": {
				const { is_error: isError, output, message } = event.result;
				const text = toText(output);
				return `${isError ? "error" : "result"} ${toCall(event.toolCallId)} ${text === '""' ? toText(message) : text}`;
			}
			case "plan.displayed":
				return `plan ${toText(event.content)}`;
			case "mode.changed":
				return `mode ${event.mode}`;
			case "compaction.ended":
				return "compacted";
			case "turn.ended":
				return toEnd(event);
			default:
				return null;
		}
	};
}

function toText(input: string | readonly { readonly type: string; readonly text?: string }[]): string {
	if (typeof input === "string") return JSON.stringify(input);
	const parts = input.map(({ type, text }) => (text === undefined ? `<${type}>` : text));
	return JSON.stringify(parts.join("\n"));
}

function toContent(part: Of<"content.completed">["part"]): string {
	return part.type === "think" ? `thinking ${JSON.stringify(part.think)}` : `text ${toText([part])}`;
}

function toRequest({ interaction }: Of<"interaction.requested">, toCall: (id: string) => string): string {
	switch (interaction.kind) {
		case "approval":
			return `ask approval ${toCall(interaction.toolCallId)} ${JSON.stringify(interaction.summary ?? interaction.description)}`;
		case "question":
			return `ask question ${JSON.stringify(interaction.questions.map(({ question }) => question))}`;
		case "client-tool":
			return `ask client-tool ${toCall(interaction.toolCallId)}`;
		case "hook":
			return `ask hook ${interaction.event} ${interaction.target}`;
	}
}

/** Sessions of early versions do not say who answered. */
function toAnswer({ answer, by }: Of<"interaction.resolved">): string {
	const who = by === undefined ? "" : ` by ${by.kind}`;
	switch (answer.kind) {
		case "approval":
			return `answer ${answer.decision}${who}${answer.feedback === "" ? "" : ` ${JSON.stringify(answer.feedback)}`}`;
		case "question":
			return `answer ${JSON.stringify(answer.answers)}${who}`;
		case "hook":
			return `answer ${answer.action}${who}`;
		case "client-tool":
			return `answer client-tool${who}`;
	}
}

function toEnd({ outcome }: Of<"turn.ended">): string {
	if (outcome === null) return "ended";
	return outcome.status === "failed"
		? `ended failed: ${outcome.error.code}: ${outcome.error.message}`
		: `ended ${outcome.status}`;
}
