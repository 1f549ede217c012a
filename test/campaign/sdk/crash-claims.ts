// What clients of SDKs were sent about a session over its lives, and whether its log has it.
import type { SessionLife } from "../frame/crash-round.ts";
import { loggedMessages } from "../frame/session-files.ts";

/** Something that was delivered: the begin or the end of a turn, what the model said, a call and its result. */
export interface Claim {
	readonly kind: "begin" | "text" | "think" | "call" | "result" | "end";
	/** The text, or the id of the call. */
	readonly value: string;
}

type Lives = readonly Pick<SessionLife, "delivered" | "lostPower">[];

/** How many of the claims are on stable storage: a turn has ended, or the command whose result came was about to run. */
function committed(claims: readonly Claim[]): number {
	const end = claims.findLastIndex(({ kind }) => kind === "end");
	const result = claims.findLast(({ kind, value }) => kind === "result" && value.startsWith("call-"));
	const call = claims.findLastIndex(({ kind, value }) => kind === "call" && value === result?.value);
	return Math.max(end, call) + 1;
}

/** The claims of the lives; after a power loss only what was committed counts, of earlier processes too. */
function gather(lives: Lives, toClaims: (line: string) => readonly Claim[]): readonly Claim[] {
	const all: Claim[] = [];
	let safe = 0;
	for (const { delivered, lostPower } of lives) {
		const own = delivered.flatMap(toClaims);
		const count = committed(own);
		if (count > 0) safe = all.length + count;
		all.push(...own);
		if (lostPower) all.splice(safe);
	}
	return all;
}

/** Those of the claims that are not there, counting how often each is made. */
function missing(claims: readonly Claim[], there: readonly Claim[]): readonly string[] {
	const left = there.map(({ kind, value }) => `${kind} ${value}`);
	return claims.flatMap(({ kind, value }) => {
		const index = left.indexOf(`${kind} ${value}`);
		if (index !== -1) left.splice(index, 1);
		return index === -1 ? [`${kind} ${JSON.stringify(value)}`] : [];
	});
}

/** The claims that the log of a session bears out. */
function logged(life: Pick<SessionLife, "after">): readonly Claim[] {
	return loggedMessages(life.after).flatMap(({ type, payload }): Claim[] => {
		const { text, think, id, tool_call_id: of } = payload;
		switch (type) {
			case "TurnBegin":
				return [{ kind: "begin", value: "" }];
			case "TurnEnd":
				return [{ kind: "end", value: "" }];
			case "ContentPart":
				if (payload["type"] === "text") return [{ kind: "text", value: String(text) }];
				return payload["type"] === "think" ? [{ kind: "think", value: String(think) }] : [];
			case "ToolCall":
				return [{ kind: "call", value: String(id) }];
			case "ToolResult":
				return [{ kind: "result", value: String(of) }];
			default:
				return [];
		}
	});
}

/** `told`: what the last life was told of the earlier ones; null where the dialect tells nothing. */
export function judgeClaims(
	lives: readonly SessionLife[],
	toClaims: (line: string) => readonly Claim[],
	told: (last: SessionLife) => readonly Claim[] | null,
): readonly string[] {
	const last = lives.at(-1);
	if (last === undefined) return [];
	const faults = missing(gather(lives, toClaims), logged(last)).map((claim) => `the log lacks ${claim}`);
	if (lives.length === 1) return faults;
	const before = gather(lives.slice(0, -1), toClaims);
	const again = last.delivered.flatMap(toClaims).some(({ kind }) => kind === "end");
	// A session without a turn is not stored.
	if (before.length === 0 && !again) return faults;
	if (last.completed && !again) faults.push("a further prompt is not answered");
	const shown = told(last);
	if (shown !== null) faults.push(...missing(before, shown).map((claim) => `it is resumed without ${claim}`));
	return faults;
}
