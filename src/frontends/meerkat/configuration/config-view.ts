// The configuration as Meerkat clients see it: `.rkat/config.toml` over defaults, without the members that have no effect here.
import * as v from "valibot";
import { isNestedWithin, isRecord } from "../../../base/json.ts";

export const configName = ".rkat/config.toml";

const unset = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const positive = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(4_294_967_295));
const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

const agentEntries = {
	system_prompt: unset(v.string()),
	/** The default for sessions that name none; null or empty for the settings' default model. */
	model: unset(v.string()),
	max_tokens_per_turn: v.optional(positive, 16_384),
	max_turns: unset(positive),
};

const entries = {
	agent: v.optional(v.pipe(plainObject, v.object(agentEntries)), {}),
	max_tokens: unset(positive),
};
export const configSchema = v.pipe(plainObject, v.object(entries));
export const configViewSchema = v.object({ ...entries, max_tokens: positive });
export type ConfigView = v.InferOutput<typeof configViewSchema>;

export function toConfig(value: unknown): ConfigView {
	const parsed = v.parse(configSchema, value);
	const agent = { ...parsed.agent, model: parsed.agent.model === "" ? null : parsed.agent.model };
	return { ...parsed, agent, max_tokens: parsed.max_tokens ?? agent.max_tokens_per_turn };
}

/** The known members without defaults and nulls. Throws for an invalid value. */
export function toPersisted(value: unknown): {
	readonly [key: string]: string | number | Record<string, string | number>;
} {
	const parsed = v.parse(configSchema, value);
	const given = isRecord(value) ? value : {};
	const agent = pick(parsed.agent, isRecord(given["agent"]) ? given["agent"] : {});
	return {
		...(Object.keys(agent).length === 0 ? {} : { agent }),
		...(parsed.max_tokens === null ? {} : { max_tokens: parsed.max_tokens }),
	};
}

type Fields = Readonly<Record<string, unknown>>;

/** The set members, plus the document's members that this view does not know. */
export function withForeign(document: Fields, set: Fields): Fields {
	const foreign = (content: Fields, known: object) =>
		Object.entries(content).filter(([name]) => !Object.hasOwn(known, name));
	const ofAgent = isRecord(document["agent"]) ? foreign(document["agent"], agentEntries) : [];
	const agent = { ...Object.fromEntries(ofAgent), ...(isRecord(set["agent"]) ? set["agent"] : {}) };
	const { agent: _, ...others } = set;
	return {
		...Object.fromEntries(foreign(document, entries)),
		...(Object.keys(agent).length === 0 ? {} : { agent }),
		...others,
	};
}

function pick(
	parsed: Readonly<Record<string, string | number | null>>,
	given: Readonly<Record<string, unknown>>,
): Record<string, string | number> {
	const persisted: Record<string, string | number> = {};
	for (const [key, value] of Object.entries(parsed)) {
		if (value !== null && given[key] !== undefined && given[key] !== null) persisted[key] = value;
	}
	return persisted;
}

/** Maximum depth of a patch, since merging recurses. */
const nestingLimit = 100;

/** A merge patch (RFC 7396). Throws if it nests too deeply. */
export function mergePatch(target: unknown, patch: unknown): unknown {
	if (!isNestedWithin(patch, nestingLimit)) throw new Error(`it nests more than ${nestingLimit} levels deep`);
	return merge(target, patch);
}

function merge(target: unknown, patch: unknown): unknown {
	if (!isRecord(patch)) return patch;
	const merged = new Map(isRecord(target) ? Object.entries(target) : []);
	for (const [key, value] of Object.entries(patch)) {
		if (value === null) merged.delete(key);
		else merged.set(key, merge(merged.get(key), value));
	}
	return Object.fromEntries(merged);
}
