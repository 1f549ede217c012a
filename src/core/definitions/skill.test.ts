// Skills as a model and a person see them.
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { describeSkills, loadSkillText, type Skill, type SkillScope, skillPrompt } from "./skill.ts";

const skill = (name: string, scope: SkillScope): Skill => ({
	name,
	scope,
	description: `Does ${name}.`,
	path: `/${scope}/${name}.md`,
	flow: null,
});

describe("describeSkills", () => {
	it("groups them by scope", () => {
		const skills = [
			skill("a", "user"),
			skill("b", "built-in"),
			skill("c", "project"),
			skill("d", "user"),
			skill("e", "extra"),
		];
		expect(describeSkills(skills)).toBe(`### Project

- c
  Path: /project/c.md
  Description: Does c.

### User

- a
  Path: /user/a.md
  Description: Does a.
- d
  Path: /user/d.md
  Description: Does d.

### Extra

- e
  Path: /extra/e.md
  Description: Does e.

### Built-in

- b
  Path: /built-in/b.md
  Description: Does b.`);
	});

	it("says that there are none", () => {
		expect(describeSkills([])).toBe("There are no skills.");
	});
});

describe("loadSkillText", () => {
	it("returns the whole file, trimmed, frontmatter included", async () => {
		const files = createMemoryFiles();
		await files.makeDirectory("/user");
		await files.replace("/user/a.md", "\ufeff\n---\nname: a\n---\n\nText.\n\n");
		expect(await loadSkillText(skill("a", "user"), files)).toBe("---\nname: a\n---\n\nText.");
	});

	it("returns null when there is nothing to read", async () => {
		const files = createMemoryFiles();
		expect(await loadSkillText(skill("a", "user"), files)).toBeNull();
		const read = () => Promise.reject(new Error("EACCES"));
		expect(await loadSkillText(skill("a", "user"), { ...files, read })).toBeNull();
	});
});

describe("skillPrompt", () => {
	it.each([
		["", "Text."],
		["now", "Text.\n\nUser request:\nnow"],
	])("with %j", (args, expected) => {
		expect(skillPrompt("Text.", args)).toBe(expected);
	});
});
