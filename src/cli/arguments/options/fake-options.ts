import { UsageError } from "../usage-error.ts";
import { readFlagValues, toKnown } from "./flag-values.ts";

export const transcriptDialects = ["wire", "legacy", "meerkat", "acp", "codex"] as const;
/** Dialects whose messages a fake cannot tell apart, whose input is plain text, or whose events are pulled. */
const otherDialects = ["claude", "codex-exec", "gateway"];

export interface FakeCall {
	readonly transcript: string;
	readonly dialect: (typeof transcriptDialects)[number];
	readonly isStrict: boolean;
	readonly conversation: number;
}

export function toFakeCall(words: readonly string[]): FakeCall | null {
	const taken = ["--transcript", "--dialect", "--conversation"];
	const given = readFlagValues("fake", words, { taken, plain: ["--strict"] });
	if (given === null) return null;
	const transcript = given.get("--transcript");
	if (transcript === undefined) throw new UsageError("The command 'fake' needs --transcript FILE.");
	const conversation = Number(given.get("--conversation") ?? 1);
	if (!Number.isInteger(conversation) || conversation < 1) {
		throw new UsageError(`--conversation: '${given.get("--conversation")}' is not a number from 1 on.`);
	}
	return { transcript, dialect: toDialect("fake", given), isStrict: given.has("--strict"), conversation };
}

export function toDialect(command: string, given: ReadonlyMap<string, string>): FakeCall["dialect"] {
	const spelled = given.get("--dialect");
	if (spelled === undefined)
		throw new UsageError(`The command '${command}' needs --dialect, one of ${transcriptDialects.join(", ")}.`);
	if (otherDialects.includes(spelled))
		throw new UsageError(`--dialect: '${spelled}' cannot be faked; ${transcriptDialects.join(", ")} can.`);
	return toKnown("--dialect", spelled, transcriptDialects);
}
