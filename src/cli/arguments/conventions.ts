import path from "node:path";
import { type ContractVersion, contractForm, parseContractVersion } from "../../base/contract-version.ts";
import { UsageError } from "./usage-error.ts";

export const families = ["kimi-cli", "kimi-code"] as const;
export type Family = (typeof families)[number];

/** Command-line defaults from the executable name and the environment. */
export interface Conventions {
	/** Null if undecided: `-c` then follows kimi-cli, and `-p` prints kimi-code lines. */
	readonly family: Family | null;
	readonly printsRepr: boolean;
	readonly outputFormat: string | null;
	readonly contract: ContractVersion | null;
}

export const plainConventions: Conventions = { family: null, printsRepr: false, outputFormat: null, contract: null };

/** Executable names under which `--print` behaves like kimi-cli. */
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
