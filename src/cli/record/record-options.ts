import { parseArgs } from "node:util";
import { type Fault, faultForms, parseFault } from "../../core/models/cassettes/faults.ts";
import { type CassetteMode, cassetteModes } from "../../core/models/cassettes/recorded-fetch.ts";
import { toKnown } from "../arguments/options/flag-values.ts";
import { UsageError } from "../arguments/usage-error.ts";

export interface RecordOptions {
	readonly cassette: string;
	readonly mode: CassetteMode;
	/** At least 0. */
	readonly timeScale: number;
	readonly faults: readonly Fault[];
	readonly replacements: readonly (readonly [text: string, name: string])[];
	readonly command: readonly [file: string, ...words: string[]];
}

const flags = ["cassette", "mode", "time-scale", "fault", "replace"] as const;

export function toRecordOptions(words: readonly string[]): RecordOptions {
	const end = words.indexOf("--");
	const own = end === -1 ? words : words.slice(0, end);
	const { tokens } = parseArgs({
		args: [...own],
		options: Object.fromEntries(flags.map((name) => [name, { type: "string" } as const])),
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	const given = new Map<string, string[]>();
	for (const token of tokens) {
		if (token.kind !== "option") throw new UsageError("The command 'record' needs '--' before the command to run.");
		const { name, rawName, value = "", inlineValue = false } = token;
		if (!flags.some((flag) => flag === name)) {
			const known = flags.map((flag) => `--${flag}`).join(", ");
			throw new UsageError(`The command 'record' does not know '${rawName}'; it takes ${known}.`);
		}
		if (value.trim() === "" || (!inlineValue && value.startsWith("-")))
			throw new UsageError(`${rawName} needs a value.`);
		given.set(name, [...(given.get(name) ?? []), value]);
	}
	const [file, ...rest] = end === -1 ? [] : words.slice(end + 1);
	if (file === undefined || file === "")
		throw new UsageError("The command 'record' needs a command to run, after '--'.");
	const scale = given.get("time-scale")?.at(-1) ?? "1";
	if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(scale)) throw new UsageError("--time-scale must be a number of at least 0.");
	return {
		cassette: given.get("cassette")?.at(-1) ?? "cassette.jsonl",
		mode: toKnown("--mode", given.get("mode")?.at(-1) ?? "record", cassetteModes),
		timeScale: Number(scale),
		faults: (given.get("fault") ?? []).map(toFault),
		replacements: (given.get("replace") ?? []).map(toReplacement),
		command: [file, ...rest],
	};
}

function toFault(typed: string): Fault {
	const fault = parseFault(typed);
	if (fault === null) throw new UsageError(`--fault: '${typed}' is not a fault. Known: ${faultForms}.`);
	return fault;
}

function toReplacement(pair: string): readonly [string, string] {
	const [, text, name] = /^(.+)=([^=]*)$/s.exec(pair) ?? [];
	if (text === undefined || name === undefined) throw new UsageError(`--replace: '${pair}' is not TEXT=NAME.`);
	return [text, name];
}
