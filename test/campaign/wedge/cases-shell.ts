// Cases of the wedge campaign: commands, background work, subagents, questions and hooks of the settings.
import { setTimeout as delay } from "node:timers/promises";
import { isRecord } from "../../../src/base/json.ts";
import type { Case, Scene } from "./case.ts";
import { calling } from "./cases-search.ts";
import { callTools, say } from "./loopback.ts";
import { create } from "./round.ts";
import { fill, nest } from "./texts.ts";

const shell = (name: string, reached: RegExp, command: string, more: object = {}): Case => ({
	area: "Shell",
	name,
	reached,
	set: ({ size }) => calling("Shell", { command: command.replaceAll("SIZE", String(size)), ...more }),
});

const shellCases: readonly Case[] = [
	shell("a hundred megabytes of lines", /Shell ok/, "yes | head -c 100000000"),
	shell("a hundred megabytes in one line", /Shell ok/, "head -c 100000000 /dev/zero | tr '\\0' a"),
	shell("output without end", /Shell error/, "yes", { timeout: 2 }),
	shell("both outputs without end, mixed", /Shell error/, "yes out & yes err >&2", { timeout: 2 }),
	shell("bytes that are no text", /Shell ok/, "head -c SIZE /dev/urandom"),
	shell("halves of characters", /Shell ok/, "head -c SIZE /dev/zero | tr '\\0' '\\360'"),
	shell("a million empty lines", /Shell ok/, "yes '' | head -c SIZE"),
	shell("colors and returns", /Shell ok/, "yes $'\\e[31m\\r\\b\\a' | head -c SIZE"),
	shell("one byte at a time", /Shell ok/, "for i in {1..3000}; do echo -n x; done"),
	shell("a thousand processes", /Shell ok/, "for i in {1..500}; do sleep 0.1 & done; wait; echo done"),
	{
		area: "Shell",
		name: "a command of a megabyte",
		reached: /Shell (ok|error)/,
		set: ({ size }) => calling("Shell", { command: `echo ${fill("a", size)}` }),
	},
	{
		area: "Shell",
		name: "twenty floods at once",
		reached: /Shell ok.*Shell ok/,
		set: () => {
			const call = { name: "Shell", arguments: { command: "yes $RANDOM | head -c 5000000" } };
			return { answers: [callTools(...Array.from({ length: 20 }, () => call))] };
		},
	},
	{
		area: "background",
		name: "a command that floods its output",
		reached: /TaskOutput ok/,
		set: () => inBackground("yes flood | head -c 50000000; sleep 0.3"),
	},
	{
		area: "background",
		name: "one line of fifty megabytes",
		reached: /TaskOutput ok/,
		set: () => inBackground("head -c 50000000 /dev/zero | tr '\\0' a"),
	},
	{
		area: "background",
		name: "a description of a megabyte",
		reached: /TaskOutput ok/,
		set: ({ size }) => inBackground("echo hello", fill("what it is for ", size)),
	},
];

/** Starts a command in the background, waits for its end, looks at its output and goes on. */
function inBackground(command: string, description = "a flood"): Scene {
	let taskId = "";
	return {
		answers: [callTools({ name: "Shell", arguments: { command, description, run_in_background: true } })],
		act: async (life) => {
			const sessionId = await create(life, { prompt: "go" });
			[, taskId = ""] = /(bash-\w{8})/.exec(life.outcome.join(" ")) ?? [];
			await delay(1500);
			life.queue([
				callTools({ name: "TaskList", arguments: { active_only: false } }),
				callTools({ name: "TaskOutput", arguments: { task_id: taskId, block: true, timeout: 5 } }),
			]);
			await life.ask("turn/start", { session_id: sessionId, prompt: "and?" });
		},
	};
}

const agentCases: readonly Case[] = [
	{
		area: "Agent",
		name: "a prompt of a megabyte",
		reached: /Agent ok/,
		set: ({ size }) => calling("Agent", { description: fill("look ", size), prompt: fill("look at it ", size) }),
	},
	{
		area: "Agent",
		name: "a report of a megabyte",
		reached: /Agent ok/,
		set: ({ size }) => ({
			answers: [
				callTools({ name: "Agent", arguments: { description: "look", prompt: "look" } }),
				say(fill("it is so ", size)),
			],
		}),
	},
	{
		area: "Agent",
		name: "two hundred subagents at once",
		reached: /Agent ok.*Agent ok/,
		set: () => {
			const call = (number: number) => ({
				name: "Agent",
				arguments: { description: "look", prompt: `look ${number}` },
			});
			const report = Array.from({ length: 200 }, () => say(fill("It is as it should be. ", 400)));
			return { answers: [callTools(...Array.from({ length: 200 }, (_, number) => call(number))), ...report] };
		},
	},
	{
		area: "Agent",
		name: "names that are a megabyte",
		reached: /Agent error/,
		set: ({ size }) => {
			const long = fill("../x", size);
			return calling("Agent", { description: "look", prompt: "look", subagent_type: long, model: long, resume: long });
		},
	},
	{
		area: "AskUserQuestion",
		name: "texts of a megabyte",
		reached: /AskUserQuestion ok/,
		set: ({ size }) => {
			const part = fill("why? ", Math.floor(size / 4));
			const options = ["a", "b"].map((mark) => ({ label: part + mark, description: part }));
			return calling("AskUserQuestion", { questions: [{ question: part, header: part, options }] });
		},
	},
	{
		area: "AskUserQuestion",
		name: "an answer of a megabyte",
		reached: /AskUserQuestion ok/,
		set: ({ size }) => ({
			...calling("AskUserQuestion", {
				questions: [{ question: "Why?", options: [{ label: "a" }, { label: "b" }] }],
			}),
			reply: (method) => (method === "question/request" ? { answers: { "Why?": fill("because ", size) } } : null),
		}),
	},
	{
		area: "AskUserQuestion",
		name: "an answer of a hundred thousand keys",
		reached: /AskUserQuestion (ok|error)/,
		set: ({ size }) => ({
			...calling("AskUserQuestion", {
				questions: [{ question: "Why?", options: [{ label: "a" }, { label: "b" }] }],
			}),
			reply: (method) =>
				method === "question/request"
					? { answers: Object.fromEntries(Array.from({ length: Math.ceil(size / 16) }, (_, n) => [`k${n}`, `${n}`])) }
					: null,
		}),
	},
];

const hook = (name: string, reached: RegExp, hooks: (size: number) => readonly object[], prompt = "go"): Case => ({
	area: "hooks",
	name,
	reached,
	set: ({ size }) => ({
		settings: { hooks: hooks(size) },
		prompt: prompt === "" ? fill("a", size) : prompt,
		answers: [callTools({ name: "Shell", arguments: { command: "echo hello" } })],
	}),
});

const onPrompt = (matcher: string, command = "true") => ({ event: "UserPromptSubmit", matcher, command });
const onTool = (command: string) => ({ event: "PreToolUse", command, timeout: 5 });

const hookCases: readonly Case[] = [
	hook("a doubled repetition as matcher", /Shell ok/, () => [onPrompt("^(a+)+$"), onPrompt("^(a|a)*b$")], ""),
	hook("many optional letters as matcher", /Shell ok/, () => [onPrompt(`${"a?".repeat(60)}${"a".repeat(60)}b`)], ""),
	hook("a counted repetition as matcher", /Shell ok/, () => [onPrompt("(a{0,60}){0,60}b"), onPrompt("(.*a){20}b")], ""),
	hook("a matcher of two hundred thousand characters", /Shell ok/, (size) => [
		onPrompt(fill("(a|b)?", Math.min(size, 200_000))),
	]),
	hook("a thousand matchers", /Shell ok/, () => Array.from({ length: 1000 }, (_, n) => onPrompt(`(.*x){9}${n}`)), ""),
	hook("an output without end", /Shell (ok|error)/, () => [onTool("yes; true")]),
	hook("a megabyte of deep JSON", /Shell (ok|error)/, (size) => [
		onTool(`head -c ${size} /dev/zero | tr '\\0' '['`),
		onTool(`head -c ${Math.floor(size / 5)} /dev/zero | sed 's/\\x00/{"a":/g'`),
	]),
	hook("a refusal of a megabyte", /Shell error/, (size) => [
		onTool(`head -c ${size} /dev/zero | tr '\\0' a >&2; exit 2`),
	]),
	hook("a hook that reads nothing of a megabyte", /Shell ok/, () => [onPrompt("", "exec 0<&-; sleep 0.2")], ""),
	hook("two hundred hooks at once", /Shell ok/, () => Array.from({ length: 200 }, (_, n) => onTool(`echo ${n}`))),
	{
		area: "hooks",
		name: "hooks of a client with hostile matchers",
		reached: /prompt:/,
		set: ({ size }) => ({
			dialect: "wire",
			initialize: {
				hooks: Array.from({ length: 50 }, (_, n) => ({
					id: `h${n}`,
					event: "UserPromptSubmit",
					matcher: n % 2 === 0 ? `(a+)+${n}$` : fill("(a*)*", 4000),
				})),
			},
			prompt: fill("a", size),
		}),
	},
	{
		area: "hooks",
		name: "a client's refusal of a megabyte",
		reached: /prompt/,
		set: ({ size }) => ({
			dialect: "wire",
			initialize: { hooks: [{ id: "h", event: "UserPromptSubmit", matcher: "" }] },
			reply: (_, { payload }) =>
				isRecord(payload) ? { request_id: payload["id"], action: "block", reason: nest("(", ")", size) } : null,
		}),
	},
];

export const shellAndHookCases: readonly Case[] = [...shellCases, ...agentCases, ...hookCases];
