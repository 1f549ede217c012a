import * as v from "valibot";
import { expect, it } from "vitest";
import { toSkillsList } from "./skills.ts";
import { skillsListResultSchema } from "./wire/wire-skills.ts";

it("names each skill by its source, which is the same at every start", () => {
	const list = toSkillsList([
		{ name: "tidy", description: "Tidies.", scope: "project" },
		{ name: "help", description: "Helps.", scope: "built-in" },
	]);
	expect(v.parse(skillsListResultSchema, list)).toEqual(list);
	expect(list.skills.map(({ name, scope, source }) => [name, scope, source.transport_kind])).toEqual([
		["tidy", "project", "filesystem"],
		["help", "builtin", "embedded"],
	]);
	expect(list.skills[0]?.key).toEqual({ source_uuid: list.skills[0]?.source.source_uuid, skill_name: "tidy" });
	expect(toSkillsList([{ name: "x", description: "", scope: "project" }]).skills[0]?.source).toEqual(
		list.skills[0]?.source,
	);
});
