import { type WireVersion, wireVersions } from "../formats/history.ts";
import type { Compatibility } from "../frontends/shared/dialect.ts";
import type { AgentwireSettings } from "../settings/config/configuration.ts";
import { ConfigurationError, type ConfigurationProblem } from "../settings/config/configuration-error.ts";

const truths: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);
const falsehoods: ReadonlySet<string> = new Set(["0", "false", "no", "off"]);

/** `source` is the settings file, null for text. Throws ConfigurationError. An empty variable counts as unset. */
export function toCompatibility(
	settings: Pick<AgentwireSettings, "maxEvents" | "typedParts" | "formerNames" | "exactApprovals">,
	source: string | null,
	environment: Readonly<Record<string, string>>,
): Compatibility {
	const problems: ConfigurationProblem[] = [];
	const fromSettings = toVersion("agentwire.max_events", settings.maxEvents, problems);
	if (problems.length > 0)
		throw new ConfigurationError(source === null ? "text" : "schema", source ?? "--config", problems);

	const isOn = (key: string, setting: boolean): boolean => {
		const word = (environment[key] ?? "").toLowerCase();
		if (word === "") return setting;
		if (!truths.has(word) && !falsehoods.has(word)) problems.push({ key, reason: "must be 1 or 0" });
		return truths.has(word);
	};
	const fromEnvironment = toVersion("AGENTWIRE_EVENTS", environment["AGENTWIRE_EVENTS"] ?? "", problems);
	const compatibility: Compatibility = {
		maxEvents: fromEnvironment ?? fromSettings,
		typedParts: isOn("AGENTWIRE_TYPED_PARTS", settings.typedParts),
		formerNames: isOn("AGENTWIRE_FORMER_NAMES", settings.formerNames),
		exactApprovals: isOn("AGENTWIRE_EXACT_APPROVALS", settings.exactApprovals),
	};
	if (problems.length > 0) throw new ConfigurationError("environment", "environment", problems);
	return compatibility;
}

function toVersion(key: string, text: string, problems: ConfigurationProblem[]): WireVersion | null {
	const version = wireVersions.find((known) => known === text);
	if (version === undefined && text !== "")
		problems.push({ key, reason: `must be a version: ${wireVersions.join(", ")}` });
	return version ?? null;
}
