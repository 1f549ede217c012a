// Subjects: what a tool call that needs permission would act on, as plain data. Policies decide over them, events and
// approvals carry them.
import * as v from "valibot";

const argumentsSchema = v.record(v.string(), v.unknown());

export const subjectSchema = v.variant("kind", [
	/** A command line for the shell, and the directory it begins in; outside of the sandbox that the settings ask for. */
	v.object({
		kind: v.literal("command"),
		text: v.string(),
		cwd: v.string(),
		outsideSandbox: v.exactOptional(v.literal(true)),
	}),
	/**
	 * A file, or a directory that is searched; `path` is absolute, with every link resolved; `named` is the path that a
	 * link hid, if one did.
	 */
	v.object({
		kind: v.literal("file"),
		operation: v.picklist(["read", "write", "edit"]),
		path: v.string(),
		named: v.exactOptional(v.string()),
	}),
	v.object({ kind: v.literal("network"), url: v.string() }),
	/** A search on the web. */
	v.object({ kind: v.literal("web-search"), query: v.string() }),
	v.object({ kind: v.literal("mcp"), server: v.string(), tool: v.string(), arguments: argumentsSchema }),
	v.object({ kind: v.literal("client-tool"), name: v.string(), arguments: argumentsSchema }),
	/** The program of a plugin, and the directory it runs in. */
	v.object({ kind: v.literal("plugin-tool"), name: v.string(), directory: v.string(), arguments: v.unknown() }),
	/** A background task of the session. */
	v.object({ kind: v.literal("task"), operation: v.literal("stop"), id: v.string() }),
]);

export type Subject = v.InferOutput<typeof subjectSchema>;
export type FileOperation = Extract<Subject, { kind: "file" }>["operation"];
