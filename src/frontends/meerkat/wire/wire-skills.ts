import * as v from "valibot";

const uuid = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/));
const named = { source_uuid: v.pipe(v.string(), v.maxLength(100)), skill_name: v.pipe(v.string(), v.maxLength(200)) };
export const skillKeySchema = v.object(named);
export type SkillKey = v.InferOutput<typeof skillKeySchema>;
const mostSkills = 100;
export const skillRefSchema = v.object({ kind: v.literal("structured", "must be structured"), ...named });
export const skillRefsSchema = v.pipe(v.array(skillRefSchema), v.maxLength(mostSkills));
export const skillKeysSchema = v.pipe(v.array(skillKeySchema), v.maxLength(mostSkills));

export const skillsListResultSchema = v.object({
	skills: v.array(
		v.object({
			key: v.object({ source_uuid: uuid, skill_name: v.string() }),
			name: v.string(),
			description: v.string(),
			scope: v.picklist(["project", "user", "extra", "builtin"]),
			source: v.object({
				source_uuid: uuid,
				display_name: v.string(),
				transport_kind: v.picklist(["filesystem", "embedded"]),
				fingerprint: v.string(),
				status: v.literal("active"),
			}),
			is_active: v.literal(true),
		}),
	),
});
export type SkillsListResult = v.InferOutput<typeof skillsListResultSchema>;
