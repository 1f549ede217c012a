// Random use of the client library: whatever a program does, and whenever the connection breaks, each promise settles, and a turn
// tells everybody the same.
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectToGateway, createScriptedAgent, makeDirectory } from "../../test/support/client/client-places.ts";
import { type Kernel, PeerGone, Refused, type Session, type Turn, type TurnEvent } from "./client.ts";

/** Milliseconds until which a promise must have settled once nothing holds it up. */
const patience = 20_000;
const sessionCount = 2;

const session = fc.nat(sessionCount - 1);
const step = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ kind: fc.constant("prompt" as const), session, isRead: fc.boolean() }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("steer" as const), session }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), session }) },
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant("answer" as const),
			session,
			how: fc.constantFrom("once" as const, "session" as const, "reject" as const),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const), session }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("fork" as const), session }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const) }) },
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant("pause" as const), milliseconds: fc.nat(30) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const call = (n: number) =>
	`tool_call: {"id":"c${n}","name":"Shell","arguments":"{\\"command\\":\\"echo ${n} > made\\"}"}\n`;
const scripts = Array.from({ length: 40 }, (_, n) => (n % 3 === 2 ? `text: Answer ${n}.\n` : call(n)));

/** Fails for a promise that does not settle. */
async function settled<Value>(promise: PromiseLike<Value>, what: string): Promise<PromiseSettledResult<Value>> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${what} has not settled.`)), patience);
	});
	const both = Promise.allSettled([promise]).then(([result]) => result);
	return await Promise.race([both, late]).finally(() => clearTimeout(timer));
}

async function readAll(turn: Turn): Promise<{ readonly events: readonly TurnEvent[]; readonly error: unknown }> {
	const events: TurnEvent[] = [];
	try {
		for await (const event of turn) events.push(event);
		return { events, error: null };
	} catch (error) {
		return { events, error };
	}
}

interface Started {
	readonly turn: Turn;
	/** What somebody reads from its beginning on; null if nobody does before it is over. */
	readonly reading: ReturnType<typeof readAll> | null;
}

class Round {
	readonly #kernel: Kernel;
	readonly #cut: () => void;
	readonly #workDir: string;
	readonly #sessions: Session[] = [];
	readonly #turns: Started[] = [];
	readonly #acts: Promise<unknown>[] = [];

	constructor(kernel: Kernel, cut: () => void, workDir: string) {
		this.#kernel = kernel;
		this.#cut = cut;
		this.#workDir = workDir;
	}

	async play(steps: readonly Step[]): Promise<void> {
		for (let n = 0; n < sessionCount; n += 1) this.#sessions.push(await this.#kernel.open({ workDir: this.#workDir }));
		for (const each of steps) await this.#do(each);
		// Cancelled again and again, because a prompt may still be on its way.
		const over = Promise.all(this.#turns.map(({ turn }) => settled(turn, "A turn")));
		const cancelling = setInterval(() => {
			for (const { turn } of this.#turns) this.#act(turn.cancel());
		}, 200);
		const results = await over.finally(() => clearInterval(cancelling));
		for (const [index, { turn, reading }] of this.#turns.entries()) await check(turn, results[index], reading);
		for (const act of this.#acts) {
			const done = await settled(act, "An act");
			if (done.status === "rejected") expect([Refused, PeerGone]).toContain(done.reason.constructor);
		}
		for (const each of this.#sessions) {
			await expect.poll(async () => (await each.snapshot()).turnId, { timeout: patience }).toBeNull();
			expect(await each.waiting()).toEqual([]);
		}
	}

	async #do(given: Step): Promise<void> {
		switch (given.kind) {
			case "pause":
				await new Promise((resolve) => setTimeout(resolve, given.milliseconds));
				return;
			case "cut":
				this.#cut();
				return;
			case "prompt": {
				const turn = this.#at(given.session).prompt("Go on");
				this.#turns.push({ turn, reading: given.isRead ? readAll(turn) : null });
				return;
			}
			case "steer":
				this.#act(this.#at(given.session).steer("And this"));
				return;
			case "cancel":
				this.#act(this.#at(given.session).cancel());
				return;
			case "answer":
				this.#act(answer(this.#at(given.session), given.how));
				return;
			case "reopen": {
				const { id } = this.#at(given.session);
				const opened = await settled(this.#kernel.open({ id }), "Opening");
				if (opened.status === "fulfilled") this.#sessions[given.session] = opened.value;
				return;
			}
			case "fork":
				this.#act(this.#kernel.open({ fork: this.#at(given.session).id }));
				return;
		}
	}

	#act(act: Promise<unknown>): void {
		// Looked at in the end.
		act.catch(() => {});
		this.#acts.push(act);
	}

	#at(index: number): Session {
		const found = this.#sessions[index];
		if (found === undefined) throw new Error(`There is no session ${index}.`);
		return found;
	}
}

async function answer(of: Session, how: "once" | "session" | "reject"): Promise<void> {
	for (const ask of await of.waiting()) {
		if (ask.kind !== "approval") continue;
		if (how === "once") await ask.once();
		else if (how === "session") await ask.forSession();
		else await ask.reject("No.");
	}
}

/** Who reads a turn early, late or twice sees the same end as who awaits it. */
async function check(
	turn: Turn,
	result: PromiseSettledResult<Awaited<Turn>> | undefined,
	reading: Started["reading"],
): Promise<void> {
	const readings = [...(reading === null ? [] : [reading]), readAll(turn), readAll(turn)];
	for (const each of readings) {
		const read = await settled(each, "Reading a turn");
		if (read.status === "rejected") throw read.reason;
		const { events, error } = read.value;
		const ends = events.filter(({ type }) => type === "ended");
		if (result?.status === "fulfilled") {
			expect(error).toBeNull();
			expect(ends).toEqual([events.at(-1)]);
			expect(events.at(-1)).toMatchObject({ type: "ended", result: result.value });
		} else {
			expect(result?.reason).toBeInstanceOf(PeerGone);
			expect(error).toBe(result?.reason);
			expect(ends).toEqual([]);
		}
	}
}

describe.each([
	["in the same process", async () => ({ kernel: await createScriptedAgent(scripts), cut: () => {} })],
	["over HTTP, with a connection that breaks", async () => await connectToGateway(scripts)],
] as const)("a program that does anything, %s", (_, start) => {
	it("sees every promise settle, and every turn end once", { timeout: 120_000 }, async () => {
		const workDir = await makeDirectory();
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
				const { kernel, cut } = await start();
				onTestFinished(() => kernel.close());
				try {
					await new Round(kernel, cut, workDir).play(steps);
				} finally {
					await kernel.close();
				}
			}),
			{ numRuns: 15, seed: 1, endOnFailure: true },
		);
	});
});
