import type { Word } from "../../script.ts";
import { awkDoubt } from "../awk-program.ts";
import type { FileOperand, Form, Given } from "../form.ts";
import { isPlainSedScript } from "../sed-script.ts";
import { rows } from "./form-rows.ts";

/** Prints the contents of its operands, with any options. */
const reader: Form = { reads: true, anyOption: true, files: "read" };
const speaker: Form = { reads: true, anyOption: true, files: "none" };

const grep: Form = {
	...reader,
	options:
		"-EFGPivwxcLlnHhoqsrRabzyTZU -e: -f:r -m: -A: -B: -C: -d: -D: -# --recursive --dereference-recursive --regexp= --file=r --max-count= --after-context= --before-context= --context= " +
		"--include= --exclude= --exclude-from=r --exclude-dir= --binary-files= --directories= --label=",
	skips: 1,
	instead: "e f regexp file",
	readsOthers: ({ options }) =>
		options.some(({ name }) => /^(?:[rRd]|recursive|dereference-recursive|directories)$/.test(name)),
};

const awk: Form = {
	reads: true,
	options: "-F: -v: --field-separator= --assign=",
	others: "-f:r --file=r",
	files: "read",
	skips: 1,
	instead: "f file",
	judge: (given) => awkDoubt(given),
};

const sed: Form = {
	reads: true,
	options:
		"-nErsuz -e: -l: --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox --debug --expression= --line-length=",
	others: "-i? -f:r --in-place --file=r --follow-symlinks",
	files: "read",
	skips: 1,
	instead: "e f expression file",
	moreFiles: ({ options, operands }) => [
		...(options.some(({ name }) => name === "i" || name === "in-place")
			? operands.slice(1).map((word) => ({ operation: "write", word }) as const)
			: []),
		...sedScripts({ options, operands }).flatMap(filesInScript),
	],
	judge: ({ options, operands }) => {
		const scripts = sedScripts({ options, operands });
		const arePlain = scripts.every((script) => script.kind === "literal" && isPlainSedScript(script.text));
		return arePlain ? null : "the commands of sed may run programs, or use files that no rule knows";
	},
};

function sedScripts({ options, operands }: Given): readonly Word[] {
	const scripts = options.flatMap(({ name, value }) =>
		/^(?:e|expression)$/.test(name) && value !== null ? [value] : [],
	);
	return scripts.length > 0 ? scripts : operands.slice(0, 1);
}

/** `w FILE` and `r FILE` extend to the end of the line. */
function filesInScript({ text: script }: Word): readonly FileOperand[] {
	const uses = [...script.matchAll(/(?:^|[;{}\n\s/\d$gpiIM])([wWr])\s+([^\n;]+)/g)];
	return uses.map(([, verb = "", name = ""]) => {
		return { operation: verb === "r" ? "read" : "write", word: { kind: "literal", text: name.trim() } } as const;
	});
}

const findTests =
	"-name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -type= -xtype= -size= -mtime= -atime= " +
	"-ctime= -mmin= -amin= -cmin= -newer= -perm= -user= -group= -uid= -gid= -links= -inum= -samefile= -lname= -ilname= " +
	"-maxdepth= -mindepth= -printf= -empty -nouser -nogroup -readable -writable -executable -depth -mount -xdev -daystart " +
	"-follow -prune -quit -print -print0 -ls -true -false -not -and -or -a -o -H -L -P -noleaf -warn -nowarn -d";

const tests: Readonly<Record<string, Form>> = rows("test [", { ...speaker, files: "list" });

export const readingForms: Readonly<Record<string, Form>> = {
	...rows(
		"echo : true false basename dirname sleep seq expr whoami id groups who w uptime free df ps pgrep uname nproc tty " +
			"printenv locale getconf pwd which type cal tr",
		speaker,
	),
	...tests,
	...rows("cat tac rev fold cmp comm expand unexpand hexdump", reader),
	paste: { ...reader, options: "-sz -d:" },
	...rows("stat readlink realpath", {
		...reader,
		files: "list",
		options: "-c: --format= --printf= --relative-to= --relative-base=",
	}),
	cut: { ...reader, options: "-b: -c: -d: -f: --bytes= --characters= --delimiter= --fields= --output-delimiter=" },
	du: { ...reader, files: "list", options: "-d: -B: -t: -X:r --max-depth= --exclude= --block-size= --files0-from=r" },
	od: { ...reader, options: "-A: -j: -N: -S: -t: -w?" },
	...rows("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base32", reader),
	...rows("head tail", { ...reader, options: "-c: -n: -s: -# --bytes= --lines= --pid= --sleep-interval=" }),
	...rows("grep egrep fgrep", grep),
	...rows("awk gawk mawk nawk", awk),
	...rows("sed gsed", sed),
	ls: { ...reader, files: "list", options: "-I: -T: -w: --ignore= --hide= --sort= --time= --format=" },
	nl: { ...reader, options: "-b: -d: -f: -h: -i: -l: -n: -s: -v: -w:" },
	wc: { ...reader, options: "--files0-from=r" },
	// With a name, it prints only that variable.
	env: { reads: true, options: "-0 --null", files: "none", most: 0 },
	printf: { reads: true, optionsFirst: true, files: "none" },
	date: {
		reads: true,
		options: "-uR -d: -r:r -I? --utc --universal --iso-8601 --rfc-email --rfc-3339 --date= --reference=r",
		operand: /^\+/,
		files: "none",
	},
	hostname: { reads: true, options: "-fsdiI", most: 0 },
	lsof: { reads: true, options: "-tnPa -i? -p: -u: -c: -s?", files: "read" },
	file: {
		reads: true,
		options: "-bhiLkNrsz -F: --brief --mime --mime-type --mime-encoding --no-dereference --dereference --keep-going",
		others: "-C -m:w -f:r",
		files: "read",
	},
	tree: {
		reads: true,
		options: "-adfiJlpqrstuvxACDFghNSX -L: -P: -I: --dirsfirst --noreport --prune --gitignore --du --si",
		others: "-o:w",
		files: "read",
	},
	sort: {
		reads: true,
		options:
			"-bcCdfghiMmnrRsuVz -k: -t: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort " +
			"--human-numeric-sort --month-sort --numeric-sort --reverse --stable --unique --version-sort --zero-terminated --check " +
			"--merge --key= --field-separator=",
		others: "-o:w -T:d -S: --output=w --temporary-directory=d --compress-program= --files0-from=r --buffer-size=",
		files: "read",
	},
	uniq: {
		reads: true,
		options:
			"-cdDiuz -f: -s: -w: --count --repeated --ignore-case --unique --zero-terminated --skip-fields= --skip-chars= --check-chars=",
		files: "read, second written",
		most: 1,
	},
	xxd: { reads: true, options: "-abeEipruC -c: -g: -l: -s: -o:", files: "read, second written", most: 1 },
	base64: {
		reads: true,
		options: "-diD -w: --decode --ignore-garbage --wrap=",
		others: "-o:w --output=w",
		files: "read",
	},
	diff: {
		reads: true,
		options:
			"-abBcdeEiNnpqrstTuwyZ -# -C: -F: -I: -U: -W: -x: -X:r --brief --report-identical-files --unified --context --recursive " +
			"--new-file --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --color --side-by-side --text " +
			"--exclude= --exclude-from=r --label= --width= --suppress-common-lines --strip-trailing-cr --minimal",
		files: "read",
		// A name without an extension may be a directory.
		readsOthers: ({ options, operands }) =>
			options.some(({ name }) => name === "r" || name === "recursive") ||
			!operands.every(({ text }) => /\.\w+$|^<\(/.test(text)),
	},
	rg: {
		reads: true,
		options:
			"-iSsvwxclLnNHIoqFUPuapb0. -# -e: -f:r -g: -t: -T: -A: -B: -C: -m: -M: -j: -E: -r: --ignore-case --smart-case --case-sensitive " +
			"--invert-match --word-regexp --line-regexp --count --count-matches --files --files-with-matches --files-without-match " +
			"--line-number --no-line-number --with-filename --no-filename --only-matching --quiet --fixed-strings --multiline --pcre2 " +
			"--unrestricted --hidden --no-ignore --no-ignore-vcs --follow --text --pretty --heading --no-heading --json --stats --trim " +
			"--vimgrep --null --type-list --column --regexp= --file=r --glob= --iglob= --type= --type-not= --after-context= " +
			"--before-context= --context= --max-count= --max-columns= --max-depth= --sort= --sortr= --color= --replace=",
		others: "-z --search-zip --pre= --pre-glob= --hostname-bin= --ignore-file=r",
		files: "read",
		skips: 1,
		instead: "e f regexp file files",
		readsOthers: true,
	},
	...rows("fd fdfind", {
		reads: true,
		options:
			"-HIsiaLFgplqu01 -t: -e: -d: -E: --hidden --no-ignore --glob --type= --extension= --max-depth= --exclude= --absolute-path",
		files: "read",
		skips: 1,
	}),
	find: {
		reads: true,
		options: `${findTests} -0 -O0 -O1 -O2 -O3`,
		others: "-delete -exec= -execdir= -ok= -okdir= -fprint= -fprint0= -fprintf= -fls= -files0-from=",
		isSingleDash: true,
		files: "read",
		// A test in parentheses has no words that begin with a dash.
		judge: () => null,
	},
	jq: {
		...reader,
		options: "--indent= --arg= --argjson=",
		others: "-f:r -L: --from-file=r --slurpfile= --rawfile= --argfile=",
		skips: 1,
		instead: "f from-file",
		judge: ({ operands }) =>
			operands.some((word) => word.kind === "literal" && /\b(?:import|include)\b/.test(word.text)) ||
			operands[0]?.kind === "dynamic"
				? "the program of jq may read other files"
				: null,
	},
	column: { reads: true, options: "-tnxe -s: -o: -c: --table --separator= --output-separator=", files: "read" },
	less: { options: "-NRSFXiIMnmqrEes", files: "read", operand: /^[^+]/ },
	...rows("cd pushd", { options: "-LP", files: "read", most: 1 }),
	popd: { most: 0 },
};
