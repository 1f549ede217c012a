// Whose command line is meant where those of kimi-cli and kimi-code differ: by the executable's name, or AGENTWIRE_CLI.
import path from "node:path";
import { type ContractVersion, contractForm, parseContractVersion } from "../../base/contract-version.ts";
import { UsageError } from "./usage-error.ts";

export const families = ["kimi-cli", "kimi-code"] as const;
export type Family = (typeof families)[number];

/** What a command line means beyond its words. */
export interface Conventions {
	/** Null where nothing says so: `-c` is then that of kimi-cli, and the lines of `-p` are those of kimi-code. */
	readonly family: Family | null;
	/** Whether `--print` prints what bridges of kimi-cli parse, unless a flag says otherwise. */
	readonly printsRepr: boolean;
	/** The output format for prompts of kimi-code, from the environment; null without one. */
	readonly outputFormat: string | null;
	/** The version of Meerkat's contract, from the environment; null without one. */
	readonly contract: ContractVersion | null;
}

export const plainConventions: Conventions = { family: null, printsRepr: false, outputFormat: null, contract: null };

/** The names under which `--print` is that of kimi-cli. */
const reprNames: ReadonlySet<string> = new Set(["kimi", "kimi-cli"]);

/** Throws UsageError for a variable that means nothing. */
export function toConventions(
	executable: string,
	environment: Readonly<Record<string, string | undefined>>,
): Conventions {
	const name = path.basename(executable);
	const family = toFamily(environment["AGENTWIRE_CLI"] ?? "") ?? (name === "kimi-code" ? name : null);
	return {
		family,
		printsRepr: reprNames.has(name) && family !== "kimi-code",
		outputFormat: environment["KIMI_MODEL_OUTPUT_FORMAT"] || null,
		contract: toContract(environment["AGENTWIRE_CONTRACT"] ?? ""),
	};
}

function toContract(named: string): ContractVersion | null {
	if (named === "") return null;
	const version = parseContractVersion(named);
	if (version === null) throw new UsageError(`AGENTWIRE_CONTRACT is '${named}'; it must be ${contractForm}, or empty.`);
	return version;
}

function toFamily(named: string): Family | null {
	if (named === "") return null;
	const family = families.find((one) => one === named);
	if (family !== undefined) return family;
	throw new UsageError(`AGENTWIRE_CLI is '${named}'; it must be ${families.join(" or ")}, or empty.`);
}
