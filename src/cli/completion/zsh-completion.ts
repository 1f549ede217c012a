// The completion script for zsh: evaluate it after compinit, or put it into an fpath directory.
import { shellQuoted } from "../../base/text/quoting.ts";
import type { Offers } from "../arguments/flags.ts";
import type { CompletionLevel } from "./completion-levels.ts";
import { alternatives, offered, steps, toIdentifier, valued } from "./completion-patterns.ts";

export function zshCompletion(name: string, levels: readonly CompletionLevel[]): string {
	const identifier = `_${toIdentifier(name)}`;
	const optional = alternatives(valued(levels, ({ valueIsOptional }) => valueIsOptional === true));
	return `#compdef ${name}
# Completion of ${name} for zsh.
${identifier}() {
	local level="" pending="" word current="\${words[CURRENT]}"
	local -i index
	local -a offered
	for ((index = 2; index < CURRENT; index++)); do
		word="\${words[index]}"
		if [[ -n $pending ]]; then
			case "$level:$pending" in
				(${optional}) [[ $word == -* ]] || word="" ;;
				(*) word="" ;;
			esac
			pending=""
		fi
		case "$level:$word" in
			(*:--) return 1 ;;
			(${alternatives(valued(levels))}) pending="$word" ;;
			(${alternatives(steps(levels))}) level="\${level:+$level }$word" ;;
		esac
	done
	if [[ $current == --*=* ]] && compset -P '*='; then
		pending="\${current%%=*}"
	else
		case "$level:$pending" in
			(${optional}) [[ $current == -* ]] && pending="" ;;
		esac
	fi
	if [[ -n $pending ]]; then
		case "$level:$pending" in
${offered(levels)
	.map(({ offers, keys }) => `\t\t\t(${alternatives(keys)}) ${offer(offers)} ;;`)
	.join("\n")}
		esac
	elif [[ $current == -* ]]; then
		case "$level" in
${levels.map((level) => `\t\t\t(${shellQuoted(level.path.join(" "))}) offered=(${level.flags.flatMap(({ names, about }) => names.map((flag) => described(flag, about))).join(" ")}) ;;`).join("\n")}
		esac
		_describe -o flag offered
	else
		case "$level" in
${levels.map((level) => `\t\t\t(${shellQuoted(level.path.join(" "))}) ${level.offers === null ? describe(level) : offer(level.offers)} ;;`).join("\n")}
		esac
	fi
}
if [[ "\${funcstack[1]}" == ${identifier} ]]; then
	${identifier} "$@"
else
	compdef ${identifier} ${shellQuoted(name)}
fi
`;
}

function describe({ words }: CompletionLevel): string {
	if (words.length === 0) return "return 1";
	return `offered=(${words.map(({ name, about }) => described(name, about)).join(" ")}); _describe command offered`;
}

const described = (name: string, about: string): string => shellQuoted(`${name}:${about.replaceAll(":", "\\:")}`);

function offer(offers: Offers): string {
	if (offers === "files") return "_files";
	return offers === "directories" ? "_files -/" : `compadd -- ${offers.map(shellQuoted).join(" ")}`;
}
