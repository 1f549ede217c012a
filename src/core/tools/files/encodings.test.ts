// Files in other encodings than UTF-8: told by their bytes, and written back in them. The bytes come from Python's codecs.
import { readFile as readDisk, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, createToolPlace, type ToolPlace } from "../../../../test/support/host/tool-environment.ts";
import { guessEncoding } from "./encoding-guess.ts";
import { createReadFile } from "./read-file.ts";
import { createStringReplaceFile } from "./string-replace-file.ts";
import { decodeTextFile, encodeTextFile } from "./text-file.ts";
import { createWriteFile } from "./write-file.ts";

let place: ToolPlace;
let file: string;
beforeEach(async () => {
	place = await createToolPlace();
	file = place.at("work", "a.txt");
});
afterEach(() => place.remove());

const read = () => call(createReadFile(place.environment), { path: "a.txt" });
const write = (content: string, mode = "overwrite") =>
	call(createWriteFile(place.environment), { path: "a.txt", content, mode });
const edit = (old: string, text: string) =>
	call(createStringReplaceFile(place.environment), { path: "a.txt", edit: { old, new: text } });

const samples: readonly (readonly [name: string, encoding: string, text: string, base64: string])[] = [
	[
		"Latin-1",
		"iso-8859-1",
		"# Größe in Köln\nnaïve café = señor\n",
		"IyBHcvbfZSBpbiBL9mxuCm5h73ZlIGNhZukgPSBzZfFvcgo=",
	],
	["Latin-1 with one such byte", "iso-8859-1", "café = 1\nname = x\n", "Y2Fm6SA9IDEKbmFtZSA9IHgK"],
	[
		"Windows-1252",
		"windows-1252",
		"It’s “quoted” – for 5 € in the café\r\nname = x\r\n",
		"SXSScyCTcXVvdGVklCCWIGZvciA1IIAgaW4gdGhlIGNhZukNCm5hbWUgPSB4DQo=",
	],
	[
		"Shift_JIS",
		"shift_jis",
		"# 設定ファイル\r\n名前 = テスト用の設定です。\r\n表示 = はい\r\n",
		"IyCQ3ZLog3SDQINDg4sNCpa8kU8gPSCDZYNYg2eXcILMkN2S6ILFgreBQg0KlVyOpiA9IILNgqINCg==",
	],
	[
		"EUC-JP",
		"euc-jp",
		"# 設定ファイル\n名前 = テスト用の設定です。\n表示 = はい\n",
		"IyDA38TqpdWloaWkpesKzL7BsCA9IKXGpbmlyM3RpM7A38TqpMekuaGjCsm9vKggPSCkz6SkCg==",
	],
	[
		"GBK",
		"gbk",
		"# 配置文件\n名称 = 测试用的配置，请不要修改这里的内容\n",
		"IyDF5NbDzsS8/grD+7PGID0gsuLK1NPDtcTF5NbDo6zH67K70qrQ3rjE1eLA77XExNrI3Qo=",
	],
	[
		"Big5",
		"big5",
		"# 設定檔\n名稱 = 這是一個測試用的設定，請不要修改這裡的內容\n",
		"IyCzXal3wMkKple62SA9ILNvrE+kQK3TtPq41aXOqrqzXal3oUG90KSjrW6t16fvs2+4zKq6pLquZQo=",
	],
	[
		"EUC-KR",
		"euc-kr",
		"# 설정 파일\n이름 = 시험용 설정입니다. 이 파일은 고치지 마십시오.\n",
		"IyC8s8GkIMbEwM8KwMy4pyA9IL3Dx+i/6yC8s8GkwNS0z7TZLiDAzCDGxMDPwLogsO3EocH2ILi2vcq9w7/ALgo=",
	],
	[
		"Windows-1251",
		"windows-1251",
		"# Файл настроек\nимя = проверка работы программы, не изменяйте этот файл\n",
		"IyDU4OnrIO3g8fLw7uXqCujs/yA9IO/w7uLl8OrgIPDg4e7y+yDv8O7j8ODs7PssIO3lIOjn7OXt/+ny5SD98u7yIPTg6esK",
	],
	[
		"KOI8-R",
		"koi8-r",
		"# Файл настроек\nимя = проверка работы программы, не изменяйте этот файл\n",
		"IyDmwcrMIM7B09TSz8XLCsnN0SA9INDSz9fF0svBINLBws/U2SDQ0s/H0sHNzdksIM7FIMnazcXO0crUxSDc1M/UIMbByswK",
	],
	[
		"Shift_JIS without kana",
		"shift_jis",
		"id,氏名,住所\n1,山田太郎,東京都港区\n2,佐藤花子,大阪市北区\n",
		"aWQsjoGWvCyPWo+KCjEsjlKTY5G+mFksk4yLnpNzjWCL5goyLI2yk6GJ1I5xLJHljeOOc5Zri+YK",
	],
];

describe("guessEncoding", () => {
	it.each(samples)("tells %s", async (_name, encoding, text, base64) => {
		const bytes = Buffer.from(base64, "base64");
		expect(guessEncoding(bytes)).toBe(encoding);
		const decoded = await decodeTextFile(bytes);
		expect(decoded?.text).toBe(text.replaceAll("\r\n", "\n"));
		const encoded = decoded === null ? null : await encodeTextFile(decoded.text, decoded);
		expect(encoded?.ok === true && encoded.bytes.equals(bytes)).toBe(true);
	});

	it.each([
		["UTF-8 with a broken line", Buffer.concat([Buffer.from("Größe, Köln, schön\n"), Buffer.from([0xe4, 0x0a])]), null],
		["bytes of which no encoding makes words", Buffer.from([0x61, 0x81, 0x8d, 0x62, 0xa4, 0x63]), null],
		["DOS text", Buffer.from("caf\x82s and \x84hnlich sch\x94n\n", "latin1"), null],
		["Polish in ISO-8859-2", Buffer.from("za\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1 ja\xbc\xf1\n", "latin1"), null],
		["one Chinese character in GBK", Buffer.from("x = \xd6\xd0\n", "latin1"), null],
		["a set of letters in Latin-1", Buffer.from("[a-z\xe6\xf8\xe5A-Z\xc6\xd8\xc5]\n", "latin1"), "iso-8859-1"],
		["compressed data", Buffer.from("\x1f\x8b\x08\x08\x5c\xd8", "latin1"), null],
		["UTF-32", Buffer.from("\xff\xfe\0\0a\0\0\0", "latin1"), null],
	])("is careful with %s", (_name, bytes, encoding) => {
		expect(guessEncoding(bytes)).toBe(encoding);
	});
});

describe("a file in another encoding", () => {
	it.each(samples)("is read and edited in it: %s", async (_name, _encoding, text, base64) => {
		const bytes = Buffer.from(base64, "base64");
		await writeFile(file, bytes);
		const shown = await read();
		expect(String(shown.output).replaceAll(/^ +\d+\t/gm, "")).toBe(text.replaceAll("\r\n", "\n"));
		expect(shown.message).toMatch(/The file is not UTF-8; it was read as .*, a guess, and is written back in it\.$/);
		const edited = await edit(" = ", " := ").then(async (first) =>
			first.is_error ? await edit(" = x", " := x") : first,
		);
		const [line = ""] = text.split(/\r?\n/);
		const result = edited.is_error ? await edit(line, `${line} ok`) : edited;
		expect(result).toMatchObject({ is_error: false, message: expect.stringContaining("is written back in it") });
		const after = await readDisk(file);
		expect(after.length).toBeGreaterThan(bytes.length);
		expect(guessEncoding(after)).toBe(guessEncoding(bytes));
		expect(await write(text)).toMatchObject({ is_error: false });
		expect((await readDisk(file)).equals(bytes)).toBe(true);
		expect(await write(text, "append")).toMatchObject({ is_error: false });
		expect((await readDisk(file)).equals(Buffer.concat([bytes, bytes]))).toBe(true);
	});

	it.each([
		["UTF-16 LE", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
		["UTF-16 BE", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
	])("keeps byte order mark and line ends: %s", async (name, encode) => {
		await writeFile(file, encode("Name = Größe 😀\r\nzwei\r\n"));
		const shown = await read();
		expect(shown.output).toBe("     1\tName = Größe 😀\n     2\tzwei\n");
		expect(shown.message).toContain(`The file is in ${name} with a byte order mark, and is written back in it.`);
		expect((await edit("😀\nzwei", "日本\nzwo")).is_error).toBe(false);
		expect((await readDisk(file)).equals(encode("Name = Größe 日本\r\nzwo\r\n"))).toBe(true);
		await write("neu\n");
		expect((await readDisk(file)).equals(encode("neu\r\n"))).toBe(true);
	});

	it("is not given a character that its encoding lacks", async () => {
		const bytes = Buffer.from("caf\xe9 = 1\n", "latin1");
		await writeFile(file, bytes);
		for (const refused of [await edit("= 1", "= 5 €"), await write("日本\n"), await write("“x”\n", "append")]) {
			expect(refused.message).toMatch(
				/^The file is in ISO-8859-1 \(Latin-1\), which has no character `.` \(U\+[0-9A-F]{4}\)\./,
			);
		}
		expect((await readDisk(file)).equals(bytes)).toBe(true);
	});

	it("is read with a warning and not changed where the encoding cannot be told", async () => {
		const bytes = Buffer.from("caf\x82s and \x84hnlich sch\x94n\n", "latin1");
		await writeFile(file, bytes);
		expect((await read()).message).toContain("its encoding cannot be told");
		for (const refused of [await edit("and", "und"), await write("x"), await write("x", "append")]) {
			expect(refused).toMatchObject({
				is_error: true,
				message: expect.stringContaining("must not be converted unnoticed"),
			});
		}
		await writeFile(file, Buffer.from("a\xff\0", "latin1"));
		expect((await write("x", "append")).message).toBe("`a.txt` is not a text file.");
		expect((await edit("a", "b")).message).toBe("`a.txt` is not a text file.");
	});

	it("is told far behind a beginning in ASCII, and by the same rule in an edit", async () => {
		const bytes = Buffer.from(`${"plain text\n".repeat(20_000)}caf\xe9\n`, "latin1");
		await writeFile(file, bytes);
		const shown = await call(createReadFile(place.environment), { path: "a.txt", line_offset: -1 });
		expect(shown).toMatchObject({ output: " 20001\tcafé\n", message: expect.stringContaining("ISO-8859-1") });
		expect((await edit("café", "thé")).is_error).toBe(false);
		expect((await readDisk(file)).subarray(-4)).toEqual(Buffer.from("th\xe9\n", "latin1"));
	});
});
