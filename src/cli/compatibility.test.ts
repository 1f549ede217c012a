import { describe, expect, it } from "vitest";
import { wireVersions } from "../formats/history.ts";
import { noCompatibility } from "../frontends/shared/dialect.ts";
import { ConfigurationError } from "../settings/config/configuration-error.ts";
import { toCompatibility } from "./compatibility.ts";

const nothing = { maxEvents: "", typedParts: false, formerNames: false, exactApprovals: false };
const file = "/home/me/.kimi/config.toml";

function refusal(settings: Partial<typeof nothing>, environment: Record<string, string>, source: string | null = file) {
	try {
		toCompatibility({ ...nothing, ...settings }, source, environment);
	} catch (error) {
		if (error instanceof ConfigurationError) return { category: error.category, message: error.message };
		throw error;
	}
	throw new Error("was accepted");
}

describe("compatibility with older clients", () => {
	it("is off by default", () => {
		expect(toCompatibility(nothing, file, {})).toEqual(noCompatibility);
		const empty = { AGENTWIRE_EVENTS: "", AGENTWIRE_TYPED_PARTS: "", AGENTWIRE_FORMER_NAMES: "" };
		expect(toCompatibility(nothing, file, empty)).toEqual(noCompatibility);
	});

	it.each(wireVersions.map((version) => [version]))("can cap the events at %s, by setting or variable", (version) => {
		const capped = { ...noCompatibility, maxEvents: version };
		expect(toCompatibility({ ...nothing, maxEvents: version }, file, {})).toEqual(capped);
		expect(toCompatibility(nothing, file, { AGENTWIRE_EVENTS: version })).toEqual(capped);
	});

	it("prefers the variables to the settings", () => {
		const settings = { maxEvents: "1.0", typedParts: true, formerNames: true, exactApprovals: true };
		expect(toCompatibility(settings, file, {})).toEqual(settings);
		const environment = {
			AGENTWIRE_EVENTS: "1.7",
			AGENTWIRE_TYPED_PARTS: "0",
			AGENTWIRE_FORMER_NAMES: "Off",
			AGENTWIRE_EXACT_APPROVALS: "no",
		};
		expect(toCompatibility(settings, file, environment)).toEqual({
			maxEvents: "1.7",
			typedParts: false,
			formerNames: false,
			exactApprovals: false,
		});
		const on = { AGENTWIRE_TYPED_PARTS: "1", AGENTWIRE_FORMER_NAMES: "TRUE", AGENTWIRE_EXACT_APPROVALS: "yes" };
		expect(toCompatibility(nothing, file, on)).toEqual({
			maxEvents: null,
			typedParts: true,
			formerNames: true,
			exactApprovals: true,
		});
	});

	it("names a setting that is no version, and its file", () => {
		expect(refusal({ maxEvents: "1.11" }, {})).toEqual({
			category: "schema",
			message: `Invalid configuration file ${file}:\n  agentwire.max_events: must be a version: ${wireVersions.join(", ")}`,
		});
		expect(refusal({ maxEvents: "one" }, { AGENTWIRE_EVENTS: "1.2" }, null)).toMatchObject({ category: "text" });
	});

	it("names every invalid variable", () => {
		const environment = { AGENTWIRE_EVENTS: "2", AGENTWIRE_TYPED_PARTS: "maybe", AGENTWIRE_FORMER_NAMES: "1.0" };
		expect(refusal({}, environment)).toEqual({
			category: "environment",
			message: [
				"Invalid environment variables:",
				`  AGENTWIRE_EVENTS: must be a version: ${wireVersions.join(", ")}`,
				"  AGENTWIRE_TYPED_PARTS: must be 1 or 0",
				"  AGENTWIRE_FORMER_NAMES: must be 1 or 0",
			].join("\n"),
		});
	});
});
