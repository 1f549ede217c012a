// Cases of the wedge campaign: lines of clients, the params of every method, and slash commands.
import type { Case, Scene } from "./case.ts";
import { anyId } from "./life.ts";
import { callTools, say } from "./loopback.ts";
import { create } from "./round.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

const line = (name: string, text: (size: number) => string, dialect: "rpc" | "wire" = "rpc"): Case => ({
	area: dialect === "rpc" ? "lines of Meerkat" : "lines of Kimi Wire",
	name,
	reached: /^line/,
	set: ({ size }): Scene => ({
		dialect,
		act: async (life) => {
			await life.answerTo(anyId, "line", () => life.write(`${text(size)}\n`));
		},
	}),
});

const method = (name: string, params: string) => `{"jsonrpc":"2.0","id":"line","method":"${name}","params":${params}}`;
const twice = (make: (dialect: "rpc" | "wire") => Case): readonly Case[] => [make("rpc"), make("wire")];

const lineCases: readonly Case[] = [
	...twice((dialect) => line("brackets that do not close", (size) => fill("[", size), dialect)),
	...twice((dialect) => line("deep lists", (size) => nest("[", "]", size), dialect)),
	...twice((dialect) => line("deep params", (size) => method("initialize", nest('{"a":', "}", size, "1")), dialect)),
	...twice((dialect) =>
		line("deep lists as params", (size) => method("session/create", nest("[", "]", size)), dialect),
	),
	...twice((dialect) => line("params of many keys", (size) => method("initialize", manyKeys(size)), dialect)),
	...twice((dialect) =>
		line(
			"a key again and again",
			(size) => method("initialize", `{${fill('"a":1,', size - (size % 6))}"a":1}`),
			dialect,
		),
	),
	...twice((dialect) => line("a method of a megabyte", (size) => method(fill("m", size), "{}"), dialect)),
	...twice((dialect) =>
		line("a number of a megabyte", (size) => method("initialize", `{"a":${fill("1", size)}}`), dialect),
	),
	...twice((dialect) => line("blanks", (size) => `${fill(" \t", size)}${method("initialize", "{}")}`, dialect)),
	...twice((dialect) =>
		line("escapes", (size) => method("initialize", `{"a":"${fill("\\u0000\\ud800", size - (size % 12))}"}`), dialect),
	),
	...twice((dialect) => line("a quote that does not close", (size) => `{"id":"${fill("\\\\", size)}`, dialect)),
	line("an id of a megabyte of digits", (size) => `{"jsonrpc":"2.0","id":${fill("9", size)},"method":"initialize"}`),
	line("an id that is deep", (size) => `{"jsonrpc":"2.0","id":${nest("[", "]", size)},"method":"initialize"}`),
	{
		area: "lines of Meerkat",
		name: "a hundred thousand empty lines",
		reached: /session\/list/,
		set: ({ size }) => ({
			act: async (life) => {
				life.write(fill("\n", size));
				await life.ask("session/list", {});
			},
		}),
	},
	{
		area: "lines of Meerkat",
		name: "fifty thousand lines that are no JSON",
		reached: /session\/list/,
		set: ({ size }) => ({
			act: async (life) => {
				life.write(fill("{x\n", Math.min(size, 150_000)));
				await life.ask("session/list", {});
			},
		}),
	},
	{
		area: "lines of Meerkat",
		name: "ten thousand answers to nothing",
		reached: /session\/list/,
		set: ({ size }) => ({
			act: async (life) => {
				life.write(`${list(size, (n) => `{"jsonrpc":"2.0","id":"x${n}","result":{}}`, "\n")}\n`);
				await life.ask("session/list", {});
			},
		}),
	},
	{
		area: "lines of Meerkat",
		name: "five hundred requests at once",
		reached: /session\/list/,
		set: () => ({
			act: async (life) => {
				const asked = Array.from({ length: 500 }, (_, n) => ({ jsonrpc: "2.0", id: `r${n}`, method: "config/get" }));
				life.write(asked.map((request) => `${JSON.stringify(request)}\n`).join(""));
				await life.ask("session/list", {});
			},
		}),
	},
];

const rpc = (name: string, asked: string, params: (size: number) => string): Case => ({
	area: asked,
	name,
	reached: new RegExp(`^${asked}`),
	set: ({ size }) => ({
		act: async (life) => {
			await life.answerTo(anyId, asked, () => life.write(`${method(asked, params(size))}\n`));
		},
	}),
});

const methodCases: readonly Case[] = [
	rpc("a prompt of a megabyte", "session/create", (size) => `{"prompt":"${fill("go ", size)}"}`),
	rpc(
		"a system prompt of a megabyte",
		"session/create",
		(size) => `{"prompt":"go","system_prompt":"${fill("do ", size)}"}`,
	),
	rpc(
		"names of a megabyte",
		"session/create",
		(size) => `{"prompt":"go","model":"${fill("m/", size)}","provider":"${fill("p", 1000)}"}`,
	),
	rpc(
		"a time of a megabyte",
		"session/create",
		(size) => `{"prompt":"go","budget_limits":{"max_duration":"${fill("1h ", size)}"}}`,
	),
	rpc(
		"a time of digits",
		"session/create",
		(size) => `{"prompt":"go","budget_limits":{"max_duration":"${fill("1", size)}"}}`,
	),
	rpc(
		"a time of blanks",
		"session/create",
		(size) => `{"prompt":"go","budget_limits":{"max_duration":"1${fill(" ", size)}x"}}`,
	),
	rpc("an id of a megabyte", "session/read", (size) => `{"session_id":"${fill("a-", size)}"}`),
	rpc("an id that is a path", "session/archive", (size) => `{"session_id":"${fill("../", size)}"}`),
	rpc("an id of braces", "turn/interrupt", (size) => `{"session_id":"${fill("{", size)}"}`),
	rpc("numbers of no size", "session/history", (size) => `{"session_id":"x","offset":1e${fill("9", size)},"limit":-0}`),
	rpc("a deep patch", "config/patch", (size) => nest('{"agent":', "}", size, "{}")),
	rpc("a deep list", "config/patch", (size) => `{"agent":${nest("[", "]", size)}}`),
	rpc("many keys", "config/patch", manyKeys),
	rpc("a prompt of a megabyte", "config/set", (size) => `{"agent":{"system_prompt":"${fill("\\n", size)}"}}`),
	rpc("many keys", "config/set", (size) => `{"agent":${manyKeys(size)}}`),
	rpc("many requests", "initialize", (size) => `{"requests":[${list(size, (n) => `"r${n}"`, ",")}]}`),
	{
		area: "config/patch",
		name: "a hundred patches, one after the other",
		reached: /config\/get/,
		set: () => ({
			act: async (life) => {
				const prompt = fill("do as you are told\n", 10_000);
				const patches = Array.from({ length: 100 }, (_, n) => ({ agent: { system_prompt: `${n}${prompt}` } }));
				await Promise.all(patches.map((patch) => life.ask("config/patch", patch)));
				await life.ask("config/get", {});
			},
		}),
	},
	{
		area: "session/history",
		name: "a conversation of a megabyte",
		reached: /session\/history: /,
		set: ({ size }) => ({
			answers: [say(fill("so it is\n", size))],
			act: async (life) => {
				const sessionId = await create(life, { prompt: fill("why?\n", size) });
				await life.ask("session/history", { session_id: sessionId });
			},
		}),
	},
	{
		area: "session/history",
		name: "a conversation of two hundred turns",
		reached: /session\/history: /,
		set: () => ({
			act: async (life) => {
				const sessionId = await create(life, { prompt: "go" });
				for (let n = 0; n < 200; n += 1)
					await life.ask("turn/start", { session_id: sessionId, prompt: fill("why? ", 4000) });
				life.outcome.splice(0);
				await life.ask("session/history", { session_id: sessionId });
			},
		}),
	},
];

const command = (text: (size: number) => string, more: Scene = {}, reached = /prompt: /): Case => ({
	area: "slash commands",
	name: text(40).replaceAll("\n", " "),
	reached,
	set: ({ size }) => ({ dialect: "wire", prompt: text(size), ...more }),
});

const commandCases: readonly Case[] = [
	command((size) => `/${fill("a", size)}`),
	command((size) => `/ ${fill("/", size)}`),
	command((size) => `/compact ${fill("the names ", size)}`),
	command((size) => `/plan ${fill("on ", size)}`),
	command((size) => `/add-dir ${fill("../x/", size)}`),
	command((size) => `/export ${fill("../x/", size)}`),
	command((size) => `/import ${fill("../x/", size)}`),
	command((size) => `/skill:${fill("kimi-cli-help ", size)}`),
	command((size) => `/skill:kimi-cli-help ${fill("why? ", size)}`),
	command((size) => `/flow:${fill("a:", size)}`),
	command((size) => `/btw ${fill("why? ", size)}`),
	command((size) => `/init ${fill("now ", size)}`),
	{
		area: "slash commands",
		name: "/import of a file of ten megabytes",
		reached: /prompt: /,
		set: ({ stage }) => ({
			dialect: "wire",
			prompt: `/import ${stage.write("a.txt", "a line of text\n".repeat(690_000))}`,
		}),
	},
	{
		area: "slash commands",
		name: "/import of a file of one line",
		reached: /prompt: /,
		set: ({ stage, size }) => ({ dialect: "wire", prompt: `/import ${stage.write("a.txt", fill("<>&", size))}` }),
	},
	{
		area: "slash commands",
		name: "/export of fences in fences",
		reached: /prompt: .*prompt: /,
		set: ({ size }) => ({
			dialect: "wire",
			answers: [say(fill("````\n`\n", size))],
			act: async (life) => {
				await life.ask("prompt", { user_input: fill("```\n~~~\n", size) });
				await life.ask("prompt", { user_input: "/export out.md" });
			},
		}),
	},
	{
		area: "steer",
		name: "a megabyte, ten times",
		reached: /steer.*prompt: /,
		set: ({ size }) => ({
			dialect: "wire",
			answers: [callTools({ name: "Shell", arguments: { command: "sleep 1" } })],
			act: async (life) => {
				const prompting = life.ask("prompt", { user_input: "go" });
				await life.event("ToolCall");
				await Promise.all(
					Array.from({ length: 10 }, () => life.ask("steer", { user_input: fill("and so on ", size / 10) })),
				);
				await prompting;
			},
		}),
	},
	{
		area: "prompt",
		name: "fifty thousand parts",
		reached: /prompt/,
		set: ({ size }) => ({
			dialect: "wire",
			act: async (life) => {
				const parts = Array.from({ length: Math.ceil(size / 27) }, () => ({ type: "text", text: "a" }));
				await life.ask("prompt", { user_input: parts });
			},
		}),
	},
	{
		area: "prompt",
		name: "a picture of a megabyte",
		reached: /prompt/,
		set: ({ size }) => ({
			dialect: "wire",
			act: async (life) => {
				const url = `data:image/png;base64,${fill("AAAA", size)}`;
				await life.ask("prompt", { user_input: [{ type: "image_url", image_url: { url } }] });
			},
		}),
	},
];

const hugeCases: readonly Case[] = [
	{
		area: "prompt",
		name: "64 megabytes",
		reached: /session\/create: /,
		limits: { memory: 600 * 1024 * 1024, beat: 60_000 },
		patience: 60_000,
		set: () => ({ act: async (life) => void (await create(life, { prompt: "abcdefghij klmno".repeat(4_000_000) })) }),
	},
];

export const protocolCases: readonly Case[] = [...lineCases, ...methodCases, ...commandCases, ...hugeCases];
