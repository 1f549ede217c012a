// A fixed-seed piece of the fuzz campaign in memory for every dialect, and its oracle: it must notice what is wrong, and show
// the smallest case.
import { describe, expect, it } from "vitest";
import { acpFuzz } from "./acp/fuzz.ts";
import { Tally } from "./frame/campaign.ts";
import { Exchange } from "./frame/exchange.ts";
import { type FuzzDialect, runFuzz } from "./frame/fuzz.ts";
import { jsonCases, readLine } from "./frame/json-cases.ts";
import { meerkatFuzz } from "./meerkat/fuzz.ts";
import { wireFuzz } from "./wire/fuzz.ts";

const options = { rounds: 1000, processRounds: 0, seed: 20, points: "all", log: () => {} } as const;

describe("the fuzz campaign", () => {
	it("finds that Kimi Wire and legacy answer any line as the protocol says", async () => {
		const { findings, figures } = await runFuzz(wireFuzz, "--kind fuzz", options);
		expect(findings).toEqual([]);
		expect(figures["memory: answered with result"]).toBeGreaterThan(20);
	});

	it("finds that Meerkat RPC answers any line as the protocol says", async () => {
		const { findings, figures } = await runFuzz(meerkatFuzz, "--kind fuzz", options);
		expect(findings).toEqual([]);
		expect(figures["memory: answered with result"]).toBeGreaterThan(100);
	});

	it("finds that the Agent Client Protocol answers any line as it says", { timeout: 30_000 }, async () => {
		const { findings, figures } = await runFuzz(acpFuzz, "--dialect acp --kind fuzz", options);
		expect(findings).toEqual([]);
		expect(figures["memory: answered with result"]).toBeGreaterThan(20);
	});

	it("finds that prompts after the end of their session are answered, and with no internal error", async () => {
		const exchange = new Exchange(await acpFuzz.open("memory"), new Tally());
		const line = (id: string, method: string, params: object): Buffer =>
			Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		const session = { sessionId: "<session 0>" };
		const prompt = { ...session, prompt: [{ type: "text", text: "hi" }] };
		expect(await exchange.send([line("n", "session/new", { cwd: "<cwd>", mcpServers: [] })], null)).toEqual([]);
		const after = ["a", "b"].map((id) => line(id, "session/prompt", prompt));
		expect(await exchange.send([line("c", "session/close", session), ...after], null)).toEqual([]);
	});
});

/** A server whose lines are changed on their way; it is gone where none is left of a line. */
const changed = (change: (line: string) => readonly string[]): FuzzDialect => ({
	...wireFuzz,
	openings: { kimi: wireFuzz.openings["kimi"] ?? null },
	async open(where) {
		const connection = await wireFuzz.open(where);
		const { target } = connection;
		const ready: string[] = [];
		return Object.assign(connection, {
			target: {
				...target,
				async read(): Promise<string | null> {
					if (ready.length === 0) ready.push(...change((await target.read()) ?? ""));
					return ready.shift() ?? null;
				},
			},
		});
	},
});

const isSteerRefused = (line: string): boolean => line.includes("Invalid parameters for method `steer`");

describe("the oracle of the fuzz campaign", () => {
	it.each<[string, (line: string) => readonly string[], RegExp]>([
		["that comes twice", (line) => (isSteerRefused(line) ? [line, line] : [line]), /not expected: \[\{/],
		[
			"before which the server is gone",
			(line) => (isSteerRefused(line) ? [] : [line]),
			/the server is gone; expected but missing/,
		],
		[
			"of another kind",
			(line) => [isSteerRefused(line) ? line.replace("-32602", "-32600") : line],
			/expected but missing/,
		],
		["that is no line of JSON", (line) => [isSteerRefused(line) ? line.slice(1) : line], /an unusable line/],
	])("notices a response %s, and shows the one line that it takes", async (_, change, fault) => {
		const dialect = changed(change);
		const { findings } = await runFuzz(dialect, "--kind fuzz", { ...options, rounds: 500 });
		const [finding = ""] = findings;
		expect(finding).toMatch(fault);
		const [, shown = "", again = ""] = /the case, shrunk .* times:\n([\s\S]*?)\n +again: (.*)$/.exec(finding) ?? [];
		expect(shown.split("\n")).toHaveLength(2);
		expect(shown).toContain("steer");
		const [, seed = "", path = ""] = /^npm run campaign -- --kind fuzz --seed (\S+) --path (\S+)$/.exec(again) ?? [];
		const replayed = await runFuzz(dialect, "--kind fuzz", { ...options, seed: Number(seed), path });
		expect(replayed.findings[0]).toContain(shown);
	});
});

it("the oracle of the fuzz campaign notices a response that does not come", async () => {
	const connection = await wireFuzz.open("memory");
	const target = { ...connection.target, patience: 50, read: () => new Promise<never>(() => {}) };
	const exchange = new Exchange(Object.assign(connection, { target }), new Tally());
	const line = Buffer.from('{"jsonrpc":"2.0","id":"a","method":"steer"}');
	const faults = (await exchange.send([line], null)).join("; ");
	expect(faults).toMatch(/a response does not come; expected but missing: \["a" -32602/);
});

it("the collection of JSON texts marks each correctly as valid or invalid", () => {
	const wrong = jsonCases.filter(({ bytes, isJson }) => (readLine(bytes).value !== undefined) !== isJson);
	expect(wrong.map(({ bytes }) => bytes.toString())).toEqual([]);
});
