import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../arguments/command-line.ts";
import { commandNames, commands, shells } from "../arguments/commands.ts";
import { flags } from "../arguments/flags.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { completionText } from "./completion.ts";
import { completionLevels } from "./completion-levels.ts";

const levels = completionLevels();
const levelAt = (...path: readonly string[]) => {
	const level = levels.find((each) => each.path.join(" ") === path.join(" "));
	if (level === undefined) throw new Error(`There is no level ${path.join(" ")}.`);
	return level;
};
const namesAt = (...path: readonly string[]) => levelAt(...path).flags.flatMap(({ names }) => names);

describe("completionLevels", () => {
	it("has every flag and every command", () => {
		expect(namesAt()).toEqual(flags.flatMap(({ names }) => names));
		expect(levelAt().words.map(({ name }) => name)).toEqual([...commandNames]);
	});

	it.each(commandNames)("has every flag and every action of %s at some level", (command) => {
		const { flags: ownFlags, forms } = commands[command];
		const own = levels.filter(({ path }) => path[0] === command);
		const found = own.flatMap((level) => level.flags.flatMap(({ names }) => names));
		expect(found).toEqual(expect.arrayContaining(ownFlags.flatMap(({ names }) => [...names])));
		for (const { name, about } of own.flatMap(({ words }) => words)) {
			expect(forms.some(({ words }) => words.startsWith(name))).toBe(true);
			expect(about).not.toBe("");
		}
	});

	it("offers the flags of an action after it", () => {
		expect(namesAt("mcp", "add")).toContain("--transport");
		expect(namesAt("mcp", "list")).toEqual(["--help", "-h"]);
		expect(namesAt("info")).toEqual(["--json", "--show-completion", "--help", "-h"]);
	});

	it.each(
		levelAt("rpc")
			.flags.filter(({ value }) => value === null)
			.flatMap(({ names }) => names[0] ?? []),
	)("offers nothing after rpc that rpc refuses: %s", (name) =>
		expect(() => parseCommandLine(["rpc", name])).not.toThrow(),
	);
});

describe("completionText", () => {
	it.each(shells)("is a script for %s with the name of the executable and every word", (shell) => {
		const script = completionText(shell, "", "my-kimi 'x'");
		expect(script).toContain("my_kimi__x_");
		for (const { names } of levels.flatMap((level) => level.flags)) {
			for (const name of names) expect(script).toContain(shell === "fish" ? name.replace(/^-+/, "") : name);
		}
		for (const { name } of levels.flatMap((level) => level.words)) expect(script).toContain(name);
	});

	it.each(shells)("defaults to the person's own shell %s", (shell) => {
		expect(completionText(null, `/usr/local/bin/${shell}`, "kimi")).toBe(completionText(shell, "", "kimi"));
	});

	it.each(["", "/bin/csh"])("is refused when the shell is %j", (userShell) => {
		expect(() => completionText(null, userShell, "kimi")).toThrow(UsageError);
		expect(() => completionText(null, userShell, "kimi")).toThrow(/one of bash, zsh, fish: \$SHELL is /);
	});
});
