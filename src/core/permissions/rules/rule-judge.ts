import type { Subject } from "../../../api/values/subject.ts";
import { foldName } from "../../../ports/files/folded-name.ts";
import { normalizeHost } from "../../../ports/network/host-name.ts";
import { isBroadGrant } from "../former-grants.ts";
import type { Judge, Proposal, ReadOnlyMode } from "../judge.ts";
import { type Decision, isOpen, isWorse, type PermissionRequest, type Verdict } from "../policy.ts";
import { judgeCommand } from "./command-judge.ts";
import { judgeEdit, judgeFile } from "./file-judge.ts";
import { readGrant } from "./grant-rule.ts";
import { proposeGrants } from "./grants.ts";
import type { RulePattern } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import { type JudgePlace, judgeBy, type Law, type Ruling } from "./ruling.ts";

export interface JudgeSettings {
	readonly rules: readonly Rule[];
	/** Session approvals, as stored. */
	grants(): readonly string[];
	readonly allowsReadOnly: ReadOnlyMode;
	readonly place: JudgePlace;
}

export function createRuleJudge({ rules, grants, allowsReadOnly, place }: JudgeSettings): Judge {
	const granted = createGrantRules(place.home);
	const law = (expectsQuestions: boolean): Law => ({
		rules: [...rules, ...granted(grants())],
		allowsReadOnly: allowsReadOnly === "always" || (allowsReadOnly === "by default" && !expectsQuestions),
		place,
	});
	return {
		async decide(request, expectsQuestions = false) {
			const verdict = await judgeAll(request.subjects, law(expectsQuestions), request.byDefault === "allow");
			if (verdict?.decision !== "deny" && grants().includes(request.action) && !isBroadGrant(request.action)) {
				return verdict?.decision === "ask" ? verdict : byAction(request.action);
			}
			return verdict;
		},
		propose: async (request: PermissionRequest): Promise<Proposal> =>
			request.subjects.length === 0
				? { kind: "once", why: "the tool does not say what it would act on" }
				: await proposeGrants(request.subjects, place),
		async changesNothing(subjects) {
			for (const subject of subjects) {
				if (subject.kind !== "command") return false;
				const ruling = await judgeCommand(subject, { rules: [], allowsReadOnly: true, place });
				if (ruling?.decision !== "allow") return false;
			}
			return subjects.length > 0;
		},
	};
}

function byAction(action: string): Verdict {
	return { decision: "allow", by: "session-grant", reason: `The action "${action}" was approved for the session.` };
}

function createGrantRules(home: string): (grants: readonly string[]) => readonly Rule[] {
	const known = new Map<string, Rule | null>();
	return (grants) =>
		grants.flatMap((text) => {
			const rule = known.get(text) ?? readGrant(text, home);
			known.set(text, rule);
			return rule === null ? [] : [rule];
		});
}

/** The strictest ruling; "allow" only if every subject is allowed. */
async function judgeAll(subjects: readonly Subject[], law: Law, isFree: boolean): Promise<Verdict | null> {
	let worst: Ruling | null = null;
	let isUndecided = subjects.length === 0;
	for (const subject of subjects) {
		const ruling = await judgeSubject(subject, law, isFree);
		if (ruling === null) isUndecided = true;
		else if (worst === null || isStricter(ruling, worst)) worst = ruling;
	}
	return worst?.decision === "allow" && isUndecided ? null : worst;
}

/** An abstention with a reason is weaker than an ask rule. */
function isStricter(one: Ruling, other: Ruling): boolean {
	return isWorse(one.decision, other.decision) || (one.decision === "ask" && isOpen(other) && !isOpen(one));
}

async function judgeSubject(subject: Subject, law: Law, isFree: boolean): Promise<Ruling | null> {
	switch (subject.kind) {
		case "command":
			return await judgeCommand(subject, law);
		case "file": {
			const paths = [subject.path, ...(subject.named === undefined ? [] : [subject.named])];
			const roots = await law.place.roots();
			if (subject.operation === "edit") return judgeEdit(paths, roots, law.rules, isFree);
			return judgeFile(subject.operation === "read" ? "read" : "write", paths, roots, law.rules, isFree);
		}
		case "network":
			return judgeBy(law.rules, ({ pattern }) => pattern.kind === "network" && coversHost(pattern, subject.url));
		case "web-search":
			return judgeBy(law.rules, ({ pattern }) => pattern.kind === "web-search");
		case "mcp": {
			const names = [subject.server, `${subject.server}__${subject.tool}`];
			// `mcp__a__b` is both a tool of server `a` and all tools of server `a__b`.
			const isAmbiguous = subject.server.includes("__");
			return judgeBy(
				law.rules,
				({ pattern, decision }) =>
					pattern.kind === "mcp" &&
					(pattern.name === null || (!(isAmbiguous && decision === "allow") && isNamed(pattern.name, names, decision))),
			);
		}
		case "client-tool":
		case "plugin-tool":
			return judgeBy(
				law.rules,
				({ pattern, decision }) =>
					pattern.kind === subject.kind && (pattern.name === null || isNamed(pattern.name, [subject.name], decision)),
			);
		case "task":
			return judgeBy(law.rules, ({ pattern }) => pattern.kind === "task");
	}
}

/** Names that differ only in case or Unicode form count as equal, except for allow rules. */
function isNamed(name: string, names: readonly string[], decision: Decision): boolean {
	if (decision === "allow") return names.includes(name);
	return names.some((each) => foldName(each) === foldName(name));
}

function coversHost({ host }: Extract<RulePattern, { kind: "network" }>, url: string): boolean {
	if (host === null) return true;
	const name = URL.canParse(url) ? normalizeHost(new URL(url).hostname) : null;
	if (name === null) return false;
	return host.below ? name.endsWith(`.${host.name}`) : name === host.name;
}
