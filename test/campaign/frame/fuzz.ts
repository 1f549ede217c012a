// The fuzz campaign: lines of every kind to a server in memory and, fewer of them, to the executable; then lines that are
// large, and one that is too large. A dialect says what the lines are and what each must bring about.
import fc from "fast-check";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "./campaign.ts";
import { type Cases, type Played, playCases } from "./cases.ts";
import { Exchange, type FuzzConnection, showLine } from "./exchange.ts";
import { choose, largeLines } from "./hostile-lines.ts";

export type Where = "memory" | "process";

/** What a dialect brings to the fuzz campaign. */
export interface FuzzDialect {
	/** The lines with which a connection may begin, by what they are for; null for none. */
	readonly openings: Readonly<Record<string, string | null>>;
	readonly line: fc.Arbitrary<Buffer>;
	/** Lines of about three million bytes that only this dialect knows. */
	readonly largeLines: readonly (() => Buffer)[];
	open(where: Where): Promise<FuzzConnection>;
}

/** What one connection is sent. */
interface FuzzCase {
	readonly opening: string;
	readonly batches: readonly Batch[];
}

interface Batch {
	readonly lines: readonly Buffer[];
	/** Bytes that are written at once; null for the batch as a whole. */
	readonly pieceSize: number | null;
}

const linesPerBatch = 100;
/** Milliseconds that a line of three million bytes may take. */
const largeLimit = 1000;
/** Milliseconds that may be spent on making a failing case smaller. */
const shrinkLimit = 30_000;

export function runFuzz(dialect: FuzzDialect, command: string, options: CampaignOptions): Promise<CampaignReport> {
	return reportOn("fuzz", options.seed, async () => {
		const { rounds, path, log, processRounds = Math.ceil(rounds / 50) } = options;
		const figures: Record<string, number> = {};
		const findings: string[] = [];
		const run = async (where: Where, limit: number, batches: number, large: number): Promise<void> => {
			const part = new Part(dialect, where, batches);
			const words = where === "memory" ? "" : " --rounds 0 --process-rounds 1";
			const progress = (line: string): void => log(`${where}: ${line}`);
			const played = await playCases(part.cases(command + words), { ...options, rounds: limit, log: progress });
			findings.push(...played.findings);
			if (path === undefined) findings.push(...(await part.sendLarge(large)));
			Object.assign(figures, part.figures());
		};
		if (rounds > 0) await run("memory", rounds, 20, Math.floor(Math.min(12, rounds / 5000)));
		if (processRounds > 0) await run("process", processRounds, 5, Math.floor(Math.min(6, processRounds / 50)));
		if (processRounds > 0 && path === undefined) findings.push(...(await sendOversized(dialect, log)));
		return { rounds, findings, figures };
	});
}

/** The part of the campaign that is in memory, or the one that is over a process. */
class Part {
	readonly #dialect: FuzzDialect;
	readonly #where: Where;
	readonly #batches: number;
	readonly #tally = new Tally();
	readonly #started = performance.now();
	#slowest = 0;

	constructor(dialect: FuzzDialect, where: Where, batches: number) {
		this.#dialect = dialect;
		this.#where = where;
		this.#batches = batches;
	}

	cases(command: string): Cases<FuzzCase> {
		const batch: fc.Arbitrary<Batch> = fc.record({
			lines: fc.array(this.#dialect.line, { maxLength: linesPerBatch, size: "max" }),
			pieceSize: choose<number | null>(...Array<null>(18).fill(null), 1, 97),
		});
		return {
			command,
			arbitrary: fc.record({
				opening: choose(...Object.keys(this.#dialect.openings)),
				batches: fc.array(batch, { maxLength: this.#batches, size: "max" }),
			}),
			play: (fuzzCase) => this.#play(fuzzCase),
			describe: ({ opening, batches }) => [
				`${this.#where}, ${opening}`,
				...batches.flatMap(({ lines, pieceSize }) => [
					...lines.map(showLine),
					...(pieceSize === null ? [] : [`in pieces of ${pieceSize} bytes`]),
				]),
			],
			isEven: true,
			perSeed: 100,
			shrinkLimit,
		};
	}

	async #play({ opening, batches }: FuzzCase): Promise<Played> {
		const rounds = batches.reduce((sum, { lines }) => sum + lines.length, 0);
		this.#tally.add("lines", rounds);
		const { faults, slowest } = await this.#connect(opening, batches);
		this.#slowest = Math.max(this.#slowest, slowest);
		return { faults, rounds, transcript: [] };
	}

	async #connect(
		opening: string,
		batches: readonly Batch[],
	): Promise<{ readonly faults: readonly string[]; readonly slowest: number }> {
		const connection = await this.#dialect.open(this.#where);
		const exchange = new Exchange(connection, this.#tally);
		const first = this.#dialect.openings[opening] ?? null;
		let faults: readonly string[] = [];
		if (first !== null) faults = await exchange.send([Buffer.from(first)], null);
		for (const { lines, pieceSize } of batches) {
			if (faults.length > 0) break;
			faults = await exchange.send(lines, pieceSize);
		}
		if (faults.length === 0) faults = await exchange.requestOnceMore();
		const ends = await connection.target.close();
		return { faults: faults.length > 0 ? faults : ends, slowest: exchange.slowest };
	}

	/** Large lines, each over a connection of its own; those of the dialect first. */
	async sendLarge(count: number): Promise<readonly string[]> {
		const makers = [...this.#dialect.largeLines, ...largeLines];
		const openings = Object.keys(this.#dialect.openings);
		const findings: string[] = [];
		for (let number = 0; number < count; number += 1) {
			const line = makers[number % makers.length]?.() ?? Buffer.alloc(0);
			const opening = openings[number % openings.length] ?? "";
			const { faults, slowest } = await this.#connect(opening, [{ lines: [line], pieceSize: null }]);
			const late = slowest > largeLimit ? [`took ${Math.round(slowest)} ms`] : [];
			findings.push(
				...[...faults, ...late].map((fault) => `${this.#where}, ${opening}, large line ${showLine(line)}: ${fault}`),
			);
		}
		return findings;
	}

	figures(): Record<string, number> {
		const seconds = (performance.now() - this.#started) / 1000;
		return {
			...this.#tally.figures(`${this.#where}: `),
			[`${this.#where}: lines per second`]: Math.round(this.#tally.count("lines") / seconds),
			[`${this.#where}: slowest batch in ms`]: Math.round(this.#slowest),
		};
	}
}

/** One byte more than a line may have, for each opening: refused or passed over, and the connection goes on. */
async function sendOversized(dialect: FuzzDialect, log: (line: string) => void): Promise<readonly string[]> {
	const findings: string[] = [];
	for (const [name, opening] of Object.entries(dialect.openings)) {
		const connection = await dialect.open("process");
		const exchange = new Exchange(connection, new Tally());
		if (opening !== null) await exchange.send([Buffer.from(opening)], null);
		for (let piece = 0; piece < 100; piece += 1) await connection.target.write(Buffer.alloc(1_048_576, "x"));
		// The last byte makes the line too long; for the oracle it is a line that is not JSON.
		const before = performance.now();
		const faults = [...(await exchange.send([Buffer.from("x")], null))];
		log(`100 MiB and one byte, ${name}: ${Math.round(performance.now() - before)} ms`);
		if (faults.length === 0) faults.push(...(await exchange.requestOnceMore()));
		faults.push(...(await connection.target.close()));
		findings.push(...faults.map((fault) => `100 MiB and one byte, ${name}: ${fault}`));
	}
	return findings;
}
