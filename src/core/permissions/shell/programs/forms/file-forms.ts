import type { Word } from "../../script.ts";
import type { FileOperand, Form } from "../form.ts";
import { spreadOlderOptions } from "../tar-options.ts";
import { rows } from "./form-rows.ts";

const copying = "-t:d --target-directory=d";

/** A copy into a directory keeps the name of its source. */
const copied: NonNullable<Form["moreFiles"]> = ({ options, operands }) => {
	const target = options.find(({ name }) => /^t(?:arget-directory)?$/.test(name))?.value ?? operands.at(-1);
	return operands.flatMap((word): readonly FileOperand[] => {
		const name = /([^/]+)\/*$/.exec(word.text)?.[1];
		if (word === target || target?.kind !== "literal" || word.kind === "dynamic" || name === undefined) return [];
		return [{ operation: "write", word: { kind: "literal", text: `${target.text}/${name}` } }];
	});
};

const tar: Form = {
	reads: ({ options }) =>
		options.some(({ name }) => /^(?:t|list)$/.test(name)) &&
		!options.some(({ name }) => /^(?:[cxurA]|create|extract|get)$/.test(name)),
	options:
		"-ctuzjJvkphamO -f: -C: -T:r --create --list --gzip --bzip2 --xz --zstd --verbose --file= --directory= --exclude= --strip-components= --no-same-owner --keep-old-files",
	// Any member may decide what runs, such as `.git/hooks/pre-commit`.
	others:
		"-x --extract --get -r -b: -g: -H: -I: -F: -K: -L: -N: -V: -X: -P --append --update --to-command= --use-compress-program= --checkpoint --checkpoint-action= --info-script= --new-volume-script= --rsh-command= --rmt-command=",
	spread: spreadOlderOptions,
	moreFiles: ({ options, operands }) => {
		const has = (names: RegExp) => options.some(({ name }) => names.test(name));
		const creates = has(/^(?:[cru]|create|append|update)$/);
		const extracts = has(/^(?:x|extract|get)$/);
		const use = (word: Word, isWritten: boolean): FileOperand => ({ operation: isWritten ? "write" : "read", word });
		return [
			...options.flatMap(({ name, value }) => {
				if (value === null) return [];
				if (/^f(?:ile)?$/.test(name)) return [use(value, creates)];
				return /^(?:C|directory)$/.test(name) ? [use(value, !creates)] : [];
			}),
			...(creates || extracts ? operands.map((word) => use(word, extracts)) : []),
		];
	},
	// A colon in an archive name denotes a host.
	judge: ({ options }) =>
		options.some(
			({ name, value }) =>
				/^f(?:ile)?$/.test(name) && !(value?.kind === "literal" && /^(?:[./][^\n]*|[^:]+)$/.test(value.text)),
		)
			? "the archive is on another machine"
			: null,
};

/** Whether the value is neither file content nor standard input. */
const isData = (value: Word | null) => value?.kind === "literal" && !value.text.startsWith("@");

const curl: Form = {
	options:
		"-sSfLiIvGNg46 -X: -d: -H: -u: -A: -e: -m: -w: -b: -x: -o:w -z: -r: --silent --show-error --fail --fail-with-body --location --include --head " +
		"--verbose --get --globoff --http1.1 --http2 --compressed --request= --data= --data-raw= --json= --header= --user= --user-agent= --max-time= " +
		"--connect-timeout= --retry= --retry-delay= --write-out= --no-buffer --no-progress-meter --output=w --url=",
	others:
		"-K:r -T:r -F: -c:w -D:w -O -J -k --config=r --upload-file=r --form= --cookie-jar=w --dump-header=w --remote-name --remote-header-name --output-dir=d --insecure --data-binary= --data-urlencode=",
	judge: ({ options, operands }) => {
		for (const { name, value } of options) {
			if (/^(?:o|output)$/.test(name) && value?.text !== "/dev/null" && value?.text !== "-") return "it writes a file";
			if (/^(?:d|data|json|H|header)$/.test(name) && !isData(value)) return "it may send a file";
			if (/^b$/.test(name) && !(value?.kind === "literal" && value.text.includes("="))) return "it may send a file";
			if (/^(?:w|write-out)$/.test(name) && (value?.kind !== "literal" || /^@|%output\{/.test(value.text)))
				return "it may write a file";
			if (name === "url" && !isWebAddress(value)) return "the address is not one of a web server";
		}
		return operands.every(isWebAddress) ? null : "the address is not one of a web server";
	},
	isExact: true,
};

function isWebAddress(word: Word | null): boolean {
	const text = word?.text ?? "";
	if (word?.kind === "dynamic") return /^"?https?:\/\/[\w.-]+[:/]/.test(text);
	return /^(?:https?:\/\/|(?!-)[\w.-]+(?::\d+)?(?:\/|$))/i.test(text);
}

export const fileForms: Readonly<Record<string, Form>> = {
	cp: {
		options: `-RrapfvnuiLPdHl ${copying} --recursive --archive --force --verbose --no-clobber --update --preserve`,
		others: "-T --no-target-directory",
		judge: ({ operands }) =>
			operands.slice(0, -1).some(({ text }) => /(?:^|\/)\.\.?\/*$/.test(text))
				? "it copies whatever the directory holds, such as `.git`, into another one"
				: null,
		files: "read, last written",
		moreFiles: copied,
	},
	// The source is removed.
	mv: { options: `-fnviuT ${copying} --force --no-clobber --verbose --update`, files: "both" },
	// A link exposes its target.
	ln: { options: `-sfnvrT ${copying} --symbolic --force --relative --no-dereference`, files: "both" },
	mkdir: { options: "-pv -m: --parents --verbose --mode=", files: "write" },
	touch: { options: "-acm -d: -t: -r:r --no-create --date= --time= --reference=r", files: "write" },
	tee: { options: "-ai --append", files: "write" },
	rmdir: { options: "-pv --parents --verbose", files: "write", isExact: true },
	...rows("rm unlink", { options: "-rRfvdi --recursive --force --verbose --dir", files: "write", isExact: true }),
	...rows("chmod chown chgrp", {
		options: "-Rvfc --recursive --verbose --changes",
		others: "--reference=r",
		files: "write",
		skips: 1,
		instead: "reference",
	}),
	...rows("gzip gunzip bzip2 bunzip2 xz unxz zstd", {
		options: "-dkcvtlqfr -# --keep --stdout --decompress",
		files: "write",
	}),
	...rows("tar bsdtar gtar", tar),
	kill: { options: "-lL -s: -n: -# -9 -TERM", operand: /^%?\d+$/, isExact: true },
	curl,
	dd: {
		others: "--if=r --of=w",
		spread: (words) =>
			words.map((word) =>
				word.kind === "literal" && /^\w+=/.test(word.text) ? { kind: "literal", text: `--${word.text}` } : word,
			),
	},
	// Rules for these cover exact words only; rules about files still see what they use.
	...rows("install rsync scp shred strings truncate vi vim nano emacs wget zip unzip patch", {
		operand: /^$/,
		files: "both",
		isExact: true,
	}),
};
