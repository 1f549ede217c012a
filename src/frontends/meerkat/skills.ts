import type { SessionsApi } from "../../api/kernel.ts";
import type { SkillInfo } from "../../api/session-state.ts";
import { NamedError } from "./errors.ts";
import type { MeerkatEvent } from "./wire/wire-events.ts";
import type { SkillKey, SkillsListResult } from "./wire/wire-skills.ts";

type Entry = SkillsListResult["skills"][number];

/** Sources of skills; their ids never change. */
const sources: Readonly<Record<SkillInfo["scope"], Pick<Entry, "scope" | "source">>> = {
	project: { scope: "project", source: toSource("6d5f1d0e-5c1b-4f0b-9d2a-3a7f0b1c0001", "project", "filesystem") },
	user: { scope: "user", source: toSource("6d5f1d0e-5c1b-4f0b-9d2a-3a7f0b1c0002", "user", "filesystem") },
	extra: { scope: "extra", source: toSource("6d5f1d0e-5c1b-4f0b-9d2a-3a7f0b1c0003", "extra", "filesystem") },
	"built-in": { scope: "builtin", source: toSource("6d5f1d0e-5c1b-4f0b-9d2a-3a7f0b1c0004", "embedded", "embedded") },
};

function toSource(id: string, name: string, kind: Entry["source"]["transport_kind"]): Entry["source"] {
	return {
		source_uuid: id,
		display_name: name,
		transport_kind: kind,
		fingerprint: `${name}:inventory`,
		status: "active",
	};
}

export function toSkillsList(skills: readonly SkillInfo[]): SkillsListResult {
	return {
		skills: skills.map(({ name, description, scope }) => ({
			key: { source_uuid: sources[scope].source.source_uuid, skill_name: name },
			name,
			description,
			...sources[scope],
			is_active: true,
		})),
	};
}

type Skills = Pick<SessionsApi, "skills" | "skillText">;

/** Skills chosen by a request, as the model gets them, and the events to send before the run. */
export interface ChosenSkills {
	readonly texts: readonly string[];
	readonly events: readonly MeerkatEvent[];
}

export const noSkills: ChosenSkills = { texts: [], events: [] };

export async function chooseSkills(keys: readonly SkillKey[] | null, skills: Skills): Promise<ChosenSkills> {
	if (keys === null || keys.length === 0) return noSkills;
	const known = await skills.skills();
	const texts: string[] = [];
	for (const key of keys) {
		const text = await textOf(key, known, skills);
		if (text === null) throw notFound(key, known);
		texts.push(text);
	}
	const resolvedKeys = keys.map(({ source_uuid, skill_name }) => ({ source_uuid, skill_name }));
	return { texts, events: [resolved(resolvedKeys, texts)] };
}

/** An unknown skill is reported and left out. */
export async function preloadSkills(keys: readonly SkillKey[] | null, skills: Skills): Promise<ChosenSkills> {
	if (keys === null || keys.length === 0) return noSkills;
	const known = await skills.skills();
	const found: { readonly key: SkillKey; readonly text: string }[] = [];
	const events: MeerkatEvent[] = [];
	for (const key of keys) {
		const text = await textOf(key, known, skills);
		if (text !== null) found.push({ key, text });
		else {
			const reason = { reason_type: "not_found" as const, key };
			events.push({ type: "skill_resolution_failed", skill_key: key, reason });
		}
	}
	const texts = found.map(({ text }) => text);
	if (found.length > 0)
		events.push(
			resolved(
				found.map(({ key }) => key),
				texts,
			),
		);
	return { texts, events };
}

function textOf(
	{ source_uuid, skill_name }: SkillKey,
	known: readonly SkillInfo[],
	skills: Skills,
): Promise<string | null> | null {
	const found = known.find(
		({ name, scope }) => name === skill_name && sources[scope].source.source_uuid === source_uuid.toLowerCase(),
	);
	return found === undefined ? null : skills.skillText(found.name);
}

function resolved(keys: readonly SkillKey[], texts: readonly string[]): MeerkatEvent {
	const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
	return { type: "skills_resolved", skills: [...keys], injection_bytes: bytes };
}

function notFound({ source_uuid, skill_name }: SkillKey, known: readonly SkillInfo[]): NamedError {
	const names = known.map(({ name }) => name).join(", ") || "none";
	return new NamedError(
		"SKILL_NOT_FOUND",
		`There is no skill \`${skill_name}\` of the source ${source_uuid} that can be read (\`skill_refs\`); \`skills/list\` has their keys. Known: ${names}.`,
	);
}
