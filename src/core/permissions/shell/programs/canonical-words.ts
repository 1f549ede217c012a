// Canonical spelling of equivalent words: options with a value, verb aliases, git references, and the root and home directories.
import { posix } from "node:path";

export interface WordPlace {
	readonly cwd: string | null;
	readonly home: string;
}

/** Options with a value as letter and long name, by program. */
const valued: Readonly<Record<string, string>> = {
	curl:
		"X request o output d data H header u user A user-agent e referer b cookie c cookie-jar F form T upload-file x proxy " +
		"m max-time w write-out K config",
	wget: "O output-document o output-file P directory-prefix U user-agent T timeout t tries i input-file",
	kubectl: "n namespace f filename l selector o output c container s server",
	helm: "n namespace f values",
	docker: "v volume e env w workdir u user p publish H host c context l label",
	podman: "v volume e env w workdir u user p publish l label",
};

const longNames = new Map<string, ReadonlyMap<string, string>>();
for (const [program, text] of Object.entries(valued)) {
	const words = text.split(" ");
	longNames.set(program, new Map(words.flatMap((letter, at) => (at % 2 === 0 ? [[letter, words[at + 1] ?? ""]] : []))));
}

const verbs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	npm: verbsOf(
		"i add in ins inst insta instal isnt isnta isntal isntall=install;un rm r remove unlink=uninstall;rum urn run-script=run;" +
			"x=exec;t tst=test;pub publ publi publis=publish",
	),
	pnpm: verbsOf("i=install;un rm uninstall=remove;t tst=test;run-script=run"),
	yarn: verbsOf("run-script=run"),
	bun: verbsOf("i=install;a=add;rm=remove"),
	kubectl: verbsOf("del=delete"),
};

function verbsOf(text: string): Readonly<Record<string, string>> {
	const pairs = text.split(";").flatMap((row) => {
		const [names = "", verb = ""] = row.split("=");
		return names.split(" ").map((name) => [name, verb] as const);
	});
	return Object.fromEntries(pairs);
}

/** Canonical form of the words after a program, so that equivalent patterns and commands compare equal. */
export function canonicalWords(program: string, words: readonly string[], place: WordPlace): readonly string[] {
	const paths = words.map((word) => canonicalPath(word, place));
	switch (program) {
		case "git":
			return canonicalGit(paths);
		case "tar":
		case "bsdtar":
		case "gtar":
			return canonicalTar(paths);
		default:
			return canonicalVerb(program, joinValues(paths, longNames.get(program)));
	}
}

function canonicalVerb(program: string, words: readonly string[]): readonly string[] {
	const at = words.findIndex((word) => !word.startsWith("-"));
	const verb = words[at];
	if (verb === undefined) return words;
	// The older container verbs can follow this word too.
	if (/^(?:docker|podman|nerdctl)$/.test(program) && verb === "container") return words.toSpliced(at, 1);
	const table = Object.hasOwn(verbs, program) ? verbs[program] : undefined;
	const name = table !== undefined && Object.hasOwn(table, verb) ? table[verb] : undefined;
	return name === undefined ? words : words.toSpliced(at, 1, name);
}

/** `-XPOST`, `-X POST`, `-sX POST` and `--request POST` become `--request=POST`. */
function joinValues(words: readonly string[], names: ReadonlyMap<string, string> | undefined): readonly string[] {
	if (names === undefined) return words;
	const long = new Set(names.values());
	const joined: string[] = [];
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index] ?? "";
		if (word === "--") return [...joined, ...words.slice(index)];
		const next = words[index + 1];
		if (word.startsWith("--")) {
			if (!long.has(word.slice(2)) || next === undefined) joined.push(word);
			else {
				joined.push(`${word}=${next}`);
				index += 1;
			}
			continue;
		}
		const at = word.startsWith("-") ? [...word].findIndex((letter, position) => position > 0 && names.has(letter)) : -1;
		const name = at < 0 ? undefined : names.get(word.charAt(at));
		const value = word.slice(at + 1) === "" ? next : word.slice(at + 1).replace(/^=/, "");
		if (name === undefined || value === undefined) {
			joined.push(word);
			continue;
		}
		if (at > 1) joined.push(word.slice(0, at));
		joined.push(`--${name}=${value}`);
		if (word.slice(at + 1) === "") index += 1;
	}
	return joined;
}

/** Letters of `git branch` that are forced variants of another letter. */
const forced: Readonly<Record<string, string>> = { D: "d", M: "m", C: "c" };

function canonicalGit(words: readonly string[]): readonly string[] {
	const verb = words.findIndex((word) => word === "branch" || word === "push");
	if (verb < 0) return words;
	const rest = words.slice(verb + 1);
	if (words[verb] === "branch") {
		const spread = rest.flatMap((word) => {
			if (!/^-[A-Za-z]/.test(word)) return [word];
			return [...word.slice(1)].flatMap((letter) => {
				const plain = forced[letter];
				return plain === undefined ? [`-${letter}`] : [`-${plain}`, "-f"];
			});
		});
		return [...words.slice(0, verb + 1), ...spread];
	}
	let operands = 0;
	const references = rest.flatMap((word) => {
		if (word.startsWith("-")) return [word];
		operands += 1;
		if (operands === 1) return [word];
		const target = word
			.replace(/^\+/, "")
			.replace(/^.*:/s, "")
			.replace(/^refs\/heads\//, "");
		const flags = [...(word.startsWith("+") ? ["-f"] : []), ...(/^\+?:/.test(word) ? ["-d"] : [])];
		return [...flags, target];
	});
	return [...words.slice(0, verb + 1), ...references];
}

function canonicalTar(words: readonly string[]): readonly string[] {
	const [first = "", ...rest] = words;
	const spread = /^[A-Za-z]+$/.test(first) ? [`-${first}`, ...rest] : words;
	return spread.map((word) => (/^--(?:extract|get)$/.test(word) ? "-x" : word === "--create" ? "-c" : word));
}

/** Unifies the spellings of the root and home directories, and removes meaningless parts of other paths. */
function canonicalPath(word: string, { cwd, home }: WordPlace): string {
	const plain = /^["$]/.test(word) ? word.replaceAll('"', "") : word;
	const user = /^~([\w.-]+)(?=\/|$)/.exec(plain)?.[1];
	const named = user !== undefined && user === posix.basename(home) ? plain.replace(/^~[\w.-]+/, "~") : plain;
	const path = named.replace(/^(?:\$HOME|\$\{HOME\}|~)(?=\/|$)/, () => home);
	const isPath = path.includes("/") || path === "." || path === "..";
	if (!isPath || path.startsWith("-") || path.includes("://")) return word;
	const absolute = posix.isAbsolute(path) ? path : cwd === null ? null : posix.join(cwd, path);
	const whole = absolute === null ? null : withoutEnd(posix.normalize(absolute.replace(/\/\*+$/, "/")));
	if (whole === "/" || whole === withoutEnd(home)) return whole;
	return withoutEnd(posix.normalize(path));
}

function withoutEnd(path: string): string {
	return path === "/" || path === "//" ? "/" : path.replace(/\/+$/, "");
}
