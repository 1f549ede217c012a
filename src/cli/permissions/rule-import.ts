import { systemClock } from "../../base/clock.ts";
import { errorText, isSystemError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { type ConvertedRule, convertClaudeRules } from "../../core/permissions/rules/claude-rules.ts";
import { toAbsolutePath } from "../../host/place.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { textToChange } from "../../settings/config/settings-text.ts";
import { parseJson, parseToml } from "../../settings/config/syntax.ts";
import { toTomlText } from "../../settings/config/toml-text.ts";
import { type PermissionsAnswer, PermissionsError, type PermissionsPlace } from "./permissions-answer.ts";

export async function importRules(typed: string, given: PermissionsPlace): Promise<PermissionsAnswer> {
	const { files, shareDir, place } = given;
	const source = toAbsolutePath(typed, place);
	const bytes = await files.read(source).catch((thrown: unknown) => {
		if (!isSystemError(thrown)) throw thrown;
		throw new PermissionsError(`Cannot read ${source}: ${errorText(thrown)}`, { cause: thrown });
	});
	if (bytes === null) throw new PermissionsError(`There is no file ${source}.`);
	const parsed = parseJson(bytes.toString("utf8").replace(/^\ufeff/, ""));
	if (!parsed.ok) throw new PermissionsError(`${source} is ${parsed.reason}.`);
	const converted = convertClaudeRules(parsed.value, place.home);
	if (!converted.ok)
		throw new PermissionsError(`${source} has no permissions that can be imported: ${converted.reason}.`);
	const lost = converted.leftOut.filter(({ decision }) => decision !== "allow");
	if (lost.length > 0) {
		const named = lost.map(({ decision, pattern, reason }) => `${decision} ${JSON.stringify(pattern)}: ${reason}`);
		return {
			results: [],
			faults: [
				`Nothing was imported from ${source}: these restrictions cannot be expressed. Rewrite or remove them, then import again.`,
				...named.map((line) => `  ${line}.`),
			],
			code: 1,
		};
	}
	const target = `${shareDir}/config.toml`;
	const added = converted.rules.length === 0 ? [] : await append(converted.rules, target, given);
	return {
		results: [
			added.length === 0 ? "No rule was added." : `Added to ${target}:`,
			...added.map(({ decision, pattern }) => `  ${decision.padEnd(5)}  ${pattern}`),
		],
		faults: [
			...converted.leftOut.map(
				({ decision, pattern, reason }) => `Left out: ${decision} ${JSON.stringify(pattern)}: ${reason}.`,
			),
			...converted.otherKeys.map(
				(key) =>
					`Left out: permissions.${key}: it is not a rule; use forbid_modes in [permission] to forbid modes, and --add-dir to add directories.`,
			),
		],
		code: 0,
	};
}

async function append(
	rules: readonly ConvertedRule[],
	target: string,
	{ files, shareDir }: PermissionsPlace,
): Promise<readonly ConvertedRule[]> {
	await files.makeDirectory(shareDir);
	return await withLock({ files, clock: systemClock }, target, async () => {
		const text = textToChange((await files.read(target)) ?? Buffer.alloc(0), target);
		const present =
			text === ""
				? []
				: (await readConfiguration({ kind: "file", path: target }, files, silentLog)).configuration.permission.rules;
		const isNew = ({ decision, pattern }: ConvertedRule) =>
			!present.some((rule) => rule.decision === decision && rule.pattern === pattern);
		const added = rules.filter(isNew);
		if (added.length === 0) return [];
		const blocks = added.map((rule) => toTomlText({ permission: { rules: [{ ...rule }] } }).trim()).join("\n\n");
		const changed = `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${text === "" ? "" : "\n"}${blocks}\n`;
		const check = await parseToml(changed);
		if (!check.ok) {
			throw new PermissionsError(
				`${target} writes its rules in a form that cannot be extended. Write them as [[permission.rules]], or add these yourself:\n${blocks}`,
			);
		}
		await files.replace(target, changed, { inPlaceIfNeeded: true, sync: true });
		return added;
	});
}
