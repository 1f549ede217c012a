export interface Arguments {
	/** With dashes; short options separately, known long options in their short form. */
	readonly flags: ReadonlySet<string>;
	/** Possibly abbreviated long options, for programs that accept abbreviations. */
	readonly abbreviated: ReadonlySet<string>;
	readonly operands: readonly { readonly text: string; readonly mayBeValue: boolean }[];
}

/** Long options and their equivalent letters, by program. */
const synonyms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	rm: { "--recursive": "-r", "-R": "-r", "--force": "-f", "--verbose": "-v", "--dir": "-d" },
	cp: { "--recursive": "-r", "-R": "-r", "--force": "-f", "--archive": "-a" },
	mv: { "--force": "-f" },
	chmod: { "--recursive": "-R" },
	chown: { "--recursive": "-R" },
	git: {
		"--force": "-f",
		"--delete": "-d",
		"--all": "-a",
		"--quiet": "-q",
		"--verbose": "-v",
		"--dry-run": "-n",
		"--patch": "-p",
		"--message": "-m",
		"--no-verify": "-n",
		"--set-upstream": "-u",
	},
	sed: { "--in-place": "-i", "--quiet": "-n", "--silent": "-n" },
	tee: { "--append": "-a" },
	wget: { "--output-document": "-O", "--output-file": "-o" },
	curl: { "--output": "-o", "--remote-name": "-O", "--insecure": "-k", "--request": "-X", "--data": "-d" },
};

const abbreviating = new Set(["rm", "git", "cp", "mv", "chmod", "chown", "sed"]);

const singleDash = new Set(["find", "java", "javac", "go", "gcc", "g++", "clang", "terraform", "openssl", "dd"]);

/** Programs that handle each operand independently. */
const operandLists = new Set(
	"rm rmdir unlink shred chmod chown chgrp mv cp kill pkill killall touch mkdir tee umount mkfs".split(" "),
);

/** Options before the git verb with a value in the next word. */
const gitValued = new Set(
	"-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source".split(" "),
);

export function hasOperandList(program: string): boolean {
	return operandLists.has(program);
}

/** What an option of a pattern matches. */
export function canonicalFlags(program: string, option: string): readonly string[] {
	if (option.startsWith("--") || singleDash.has(program)) return [canonical(program, option)];
	return [...option.slice(1)].map((letter) => canonical(program, `-${letter}`));
}

function canonical(program: string, option: string): string {
	const table = Object.hasOwn(synonyms, program) ? synonyms[program] : undefined;
	return table !== undefined && Object.hasOwn(table, option) ? (table[option] ?? option) : option;
}

export function readArguments(program: string, texts: readonly string[]): Arguments {
	const flags = new Set<string>();
	const abbreviated = new Set<string>();
	const operands: { text: string; mayBeValue: boolean }[] = [];
	let afterOption = false;
	let isOver = false;
	for (let index = 0; index < texts.length; index += 1) {
		const text = texts[index] ?? "";
		if (isOver || !/^-./.test(text)) {
			operands.push({ text, mayBeValue: afterOption });
			afterOption = false;
			continue;
		}
		// After an option, `--` may be its value.
		if (text === "--" && !afterOption) {
			isOver = true;
			afterOption = false;
			continue;
		}
		if (program === "git" && operands.length === 0) {
			if (gitValued.has(text)) index += 1;
		} else afterOption = !text.includes("=");
		addFlags(program, text, flags, abbreviated);
	}
	return { flags, abbreviated, operands };
}

function addFlags(program: string, text: string, flags: Set<string>, abbreviated: Set<string>): void {
	const name = text.split("=")[0] ?? text;
	flags.add(text);
	flags.add(canonical(program, name));
	if (!text.startsWith("--")) {
		if (!singleDash.has(program)) for (const flag of canonicalFlags(program, text)) flags.add(flag);
		return;
	}
	if (!abbreviating.has(program) || name.length < 3) return;
	abbreviated.add(name);
	for (const [long, short] of Object.entries(synonyms[program] ?? {})) if (long.startsWith(name)) flags.add(short);
}
