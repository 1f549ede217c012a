// The skills, by where they come from.
import type { SkillInfo } from "../../kernel/api.ts";
import type { SkillsListResult } from "./wire-inputs.ts";

type Entry = SkillsListResult["skills"][number];

/** Where skills come from, each under an id that never changes. */
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
