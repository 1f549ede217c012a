// Subjects: what a tool call that needs permission would act on, as plain data for policies, events and approvals.
import * as v from "valibot";

const argumentsSchema = v.record(v.string(), v.unknown());

export const subjectSchema = v.variant("kind", [
	/** A shell command line with its start directory, run outside the sandbox. */
	v.object({
		kind: v.literal("command"),
		text: v.string(),
		cwd: v.string(),
		outsideSandbox: v.exactOptional(v.literal(true)),
	}),
	/**
	 * A file, or a directory to search. `path` is absolute with all links resolved; `named` is the path as given if it contained
	 * a link.
	 */
	v.object({
		kind: v.literal("file"),
		operation: v.picklist(["read", "write", "edit"]),
		path: v.string(),
		named: v.exactOptional(v.string()),
	}),
	v.object({ kind: v.literal("network"), url: v.string() }),
	v.object({ kind: v.literal("web-search"), query: v.string() }),
	v.object({ kind: v.literal("mcp"), server: v.string(), tool: v.string(), arguments: argumentsSchema }),
	v.object({ kind: v.literal("client-tool"), name: v.string(), arguments: argumentsSchema }),
	/** A plugin's program and its work directory. */
	v.object({ kind: v.literal("plugin-tool"), name: v.string(), directory: v.string(), arguments: v.unknown() }),
	v.object({ kind: v.literal("task"), operation: v.literal("stop"), id: v.string() }),
]);

export type Subject = v.InferOutput<typeof subjectSchema>;
export type FileOperation = Extract<Subject, { kind: "file" }>["operation"];
