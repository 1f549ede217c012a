import { chooseAction } from "../chosen-action.ts";
import { UsageError } from "../usage-error.ts";

export type StoreKind = "disk" | "postgres";

export type StoreAction =
	| { readonly name: "migrate" | "check"; readonly json: boolean }
	/** `id` is null for all sessions. */
	| {
			readonly name: "copy";
			readonly from: StoreKind;
			readonly to: StoreKind;
			readonly id: string | null;
			readonly json: boolean;
	  }
	| { readonly name: "archive"; readonly olderThan: number; readonly json: boolean }
	| { readonly name: "delete"; readonly olderThan: number; readonly isArchived: boolean; readonly json: boolean };

const actions = ["migrate", "check", "copy", "archive", "delete"] as const;
const kinds = ["disk", "postgres"] as const;

export function toStoreAction([typed, ...words]: readonly string[]): StoreAction | null {
	if (typed === "--help" || typed === "-h") return null;
	const name = chooseAction("store", actions, typed);
	if (words.includes("--help") || words.includes("-h")) return null;
	const given = toFlags(name, words);
	const json = given.has("--json");
	switch (name) {
		case "migrate":
		case "check":
			return { name, json };
		case "copy": {
			const [from, to] = [toKind("--from", given), toKind("--to", given)];
			if (from === to) throw new UsageError("The command 'store copy' needs two different stores.");
			return { name, from, to, id: given.get("--session") ?? null, json };
		}
		case "archive":
			return { name, olderThan: toAge(name, given), json };
		case "delete":
			return { name, olderThan: toAge(name, given), isArchived: given.has("--archived"), json };
	}
}

const taken: Readonly<Record<(typeof actions)[number], readonly string[]>> = {
	migrate: [],
	check: [],
	copy: ["--from", "--to", "--session"],
	archive: ["--older-than"],
	delete: ["--older-than"],
};

function toFlags(name: (typeof actions)[number], words: readonly string[]): ReadonlyMap<string, string> {
	const plain = name === "delete" ? ["--json", "--archived"] : ["--json"];
	const given = new Map<string, string>();
	for (let index = 0; index < words.length; index += 1) {
		const [flag = "", inline] = (words[index] ?? "").split(/=(.*)/s);
		if (plain.includes(flag) && inline === undefined) given.set(flag, "");
		else if (taken[name].includes(flag)) {
			index += inline === undefined ? 1 : 0;
			const value = inline ?? words[index];
			if (value === undefined || value === "") throw new UsageError(`${flag} needs a value.`);
			given.set(flag, value);
		} else {
			throw new UsageError(
				`The command 'store ${name}' does not know '${flag}'; it takes ${[...taken[name], ...plain].join(", ")}.`,
			);
		}
	}
	return given;
}

function toKind(flag: string, given: ReadonlyMap<string, string>): StoreKind {
	const spelled = given.get(flag);
	const kind = kinds.find((known) => known === spelled);
	if (kind === undefined) throw new UsageError(`The command 'store copy' needs ${flag} disk or ${flag} postgres.`);
	return kind;
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function toAge(name: string, given: ReadonlyMap<string, string>): number {
	const spelled = given.get("--older-than");
	if (spelled === undefined) throw new UsageError(`The command 'store ${name}' needs --older-than, such as 30d.`);
	const [, amount = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(spelled) ?? [];
	const milliseconds = units[unit];
	if (milliseconds === undefined) {
		throw new UsageError(
			`--older-than: '${spelled}' is not a number with m, h, d or w for minutes, hours, days or weeks.`,
		);
	}
	return Number(amount) * milliseconds;
}
