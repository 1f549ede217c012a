// What tools do wrong.
import type { Breakage } from "../breakage.ts";

export const tools: readonly Breakage[] = [
	{
		name: "ReadFile begins a line late",
		file: "tools/files/read-file.ts",
		find: "if (line.number < offset ||",
		replace: "if (line.number <= offset ||",
	},
	{
		name: "the end of a file is read from one line too far up",
		file: "tools/files/read-file.ts",
		find: "const lines = last.slice(-span).slice(0, count);",
		replace: "const lines = last.slice(-span - 1).slice(0, count);",
	},
	{
		name: "Shell takes exit code 1 for success",
		file: "tools/shell.ts",
		find: "if (ended.exitCode === 0) return",
		replace: "if (ended.exitCode <= 1) return",
	},
	{
		name: "an output of just the limit counts as shortened",
		file: "tools/output-builder.ts",
		find: "if (fitting.length + end.length <= room) {",
		replace: "if (fitting.length + end.length < room) {",
	},
	{
		name: "of several edits only the first is made",
		file: "tools/files/string-replace-file.ts",
		find: "const edits = Array.isArray(edit) ? edit : [edit];",
		replace: "const edits = Array.isArray(edit) ? edit.slice(0, 1) : [edit];",
	},
];
