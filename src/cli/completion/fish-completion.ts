// The completion script for fish: a function that finds the level, and a declaration for each flag and word.
import type { CommandFlag } from "../arguments/commands.ts";
import type { Offers } from "../arguments/flags.ts";
import type { CompletionLevel } from "./completion-levels.ts";
import { steps, toIdentifier, valued } from "./completion-patterns.ts";

export function fishCompletion(name: string, levels: readonly CompletionLevel[]): string {
	const identifier = `__${toIdentifier(name)}`;
	const optional = valued(levels, ({ valueIsOptional }) => valueIsOptional === true);
	const command = `complete -c ${quote(name)}`;
	const declarations = levels.flatMap((level) => {
		const condition = `-n ${quote(`${identifier}_at ${quote(level.path.join(" "))}`)}`;
		return [
			...level.words.map(({ name: word, about }) => `${condition} -a ${quote(word)} -d ${quote(about)}`),
			...level.flags.map((flag) => `${condition} ${spellings(flag)} ${value(flag)}-d ${quote(flag.about)}`),
			...(level.offers === null ? [] : [`${condition} ${choices(level.offers)}`]),
		].map((declaration) => `${command} ${declaration}`);
	});
	return `# Completion of ${name} for fish.
function ${identifier}_at
	set -l typed (commandline -opc)
	set -e typed[1]
	set -l level ""
	set -l pending ""
	for word in $typed
		if test -n "$pending"
			set -l key "$level:$pending"
			set pending ""
			if not contains -- $key ${optional.map(quote).join(" ")}; or not string match -q -- "-*" $word
				continue
			end
		end
		if test "$word" = --
			return 1
		else if contains -- "$level:$word" ${valued(levels).map(quote).join(" ")}
			set pending $word
		else if contains -- "$level:$word" ${steps(levels).map(quote).join(" ")}
			set level (string trim -- "$level $word")
		end
	end
	test "$level" = "$argv[1]"
end
${command} -f
${declarations.join("\n")}
`;
}

function spellings({ names }: CommandFlag): string {
	return names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
}

/** Matches the value after the flag, including the space. Does not wait for an optional value. */
function value({ value: wanted, valueIsOptional, offers }: CommandFlag): string {
	if (wanted === null || (valueIsOptional === true && offers === undefined)) return "";
	return offers === undefined ? "-x " : `-r ${choices(offers)} `;
}

function choices(offers: Offers): string {
	if (offers === "files") return "-F";
	if (offers === "directories") return `-f -a ${quote("(__fish_complete_directories)")}`;
	return `-f -a ${quote(offers.join(" "))}`;
}

function quote(text: string): string {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
