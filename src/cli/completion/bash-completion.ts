import { shellQuoted } from "../../base/text/quoting.ts";
import type { Offers } from "../arguments/flags.ts";
import type { CompletionLevel } from "./completion-levels.ts";
import { alternatives, offered, steps, toIdentifier, valued } from "./completion-patterns.ts";

export function bashCompletion(name: string, levels: readonly CompletionLevel[]): string {
	const identifier = `_${toIdentifier(name)}_completion`;
	return `# Completion of ${name} for bash.
${identifier}() {
	local current="\${COMP_WORDS[COMP_CWORD]}" level="" pending="" glued="" kind="" words="" word reply
	local -i index
	COMPREPLY=()
	for ((index = 1; index < COMP_CWORD; index++)); do
		word="\${COMP_WORDS[index]}"
		if [[ $word == "=" ]]; then
			glued=1
			continue
		fi
		if [[ -n $pending ]]; then
			case "$level:$pending" in
				${alternatives(valued(levels, ({ valueIsOptional }) => valueIsOptional === true))}) [[ $word == -* ]] || word="" ;;
				*) word="" ;;
			esac
			pending=""
		elif [[ -n $glued ]]; then
			word=""
		fi
		glued=""
		case "$level:$word" in
			*:--) return ;;
			${alternatives(valued(levels))}) pending="$word" ;;
			${alternatives(steps(levels))}) level="\${level:+$level }$word" ;;
		esac
	done
	if [[ $current == "=" ]]; then current=""; fi
	case "$level:$pending" in
		${alternatives(valued(levels, ({ valueIsOptional }) => valueIsOptional === true))}) [[ $current == -* ]] && pending="" ;;
	esac
	if [[ -n $pending ]]; then
		case "$level:$pending" in
${offered(levels)
	.map(({ offers, keys }) => `\t\t\t${alternatives(keys)}) ${assign(offers)} ;;`)
	.join("\n")}
		esac
	elif [[ $current == -* ]]; then
		case "$level" in
${levels.map((level) => `\t\t\t${shellQuoted(level.path.join(" "))}) ${assign(level.flags.flatMap(({ names }) => names))} ;;`).join("\n")}
		esac
	else
		case "$level" in
${levels.map((level) => `\t\t\t${shellQuoted(level.path.join(" "))}) ${assign(level.offers ?? level.words.map((word) => word.name))} ;;`).join("\n")}
		esac
	fi
	case "$kind" in
		files | directories) compopt -o filenames 2> /dev/null ;;
	esac
	while IFS= read -r reply; do
		COMPREPLY+=("$reply")
	done < <(
		case "$kind" in
			files) compgen -f -- "$current" ;;
			directories) compgen -d -- "$current" ;;
			*) compgen -W "$words" -- "$current" ;;
		esac
	)
}
complete -F ${identifier} ${shellQuoted(name)}
`;
}

function assign(offers: Offers): string {
	return typeof offers === "string" ? `kind=${offers}` : `words=${shellQuoted(offers.join(" "))}`;
}
