import { parseArgs } from "node:util";
import { UsageError } from "../usage-error.ts";

export interface ExportOptions {
	/** Null means the last session of the current directory. */
	readonly sessionId: string | null;
	readonly output: string | null;
	/** Writes a recording for `replay` instead of an archive. */
	readonly replayable: boolean;
	readonly yes: boolean;
}

export function toExportOptions(words: readonly string[]): ExportOptions | null {
	const { values, positionals, tokens } = parseArgs({
		args: [...words],
		options: {
			output: { type: "string", short: "o" },
			yes: { type: "boolean", short: "y" },
			replayable: { type: "boolean" },
			help: { type: "boolean", short: "h" },
		},
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	let output: string | null = null;
	for (const token of tokens) {
		if (token.kind !== "option") continue;
		const { name, rawName, value = "", inlineValue = false } = token;
		if (name === "output") {
			// `-o=PATH` means `-o PATH`, as for all other flags.
			output = rawName === "-o" && inlineValue ? value.replace(/^=/, "") : value;
			const isMissing = output.trim() === "" || (!inlineValue && output.startsWith("-"));
			if (isMissing) throw new UsageError(`${rawName} needs a value (PATH).`);
		} else if (name !== "yes" && name !== "help" && name !== "replayable") {
			throw new UsageError(
				`The command 'export' does not know '${rawName}'; it takes --replayable, --output and --yes.`,
			);
		} else if (inlineValue) throw new UsageError(`${rawName} takes no value.`);
	}
	if (values["help"] === true) return null;
	const [sessionId = null, ...more] = positionals;
	if (more.length > 0) throw new UsageError("The command 'export' takes one session at most.");
	if (sessionId?.trim() === "") throw new UsageError("The command 'export' needs the id of a session, or none at all.");
	return { sessionId, output, replayable: values["replayable"] === true, yes: values["yes"] === true };
}

export function toReplaySubject(words: readonly string[]): string | null {
	if (words.includes("--help") || words.includes("-h")) return null;
	const [subject = "", ...more] = words;
	if (subject.trim() === "")
		throw new UsageError("The command 'replay' needs the id of a session, or an exported file.");
	if (subject.startsWith("-"))
		throw new UsageError(`The command 'replay' does not know '${subject}'; it takes no flags.`);
	if (more.length > 0) throw new UsageError("The command 'replay' takes one session.");
	return subject;
}
