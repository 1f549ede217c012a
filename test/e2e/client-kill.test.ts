// The server of a client is killed at random points, from its start on: whatever the client waits for settles.
import { expect, it } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { connect, PeerGone } from "../../src/client/client.ts";
import { createRandom } from "../campaign/random.ts";
import { createStage, executablePath, toolCall } from "../support/executable/executable.ts";

const rounds = 200;
/** Milliseconds after the kill until which everything must have settled. */
const settleTime = 10_000;
it(
	"settles every promise with PeerGone",
	async () => {
		const seed = 20_261_128;
		const random = createRandom(seed);
		const script = [
			toolCall("c1", "Shell", { command: "touch one" }),
			toolCall("c2", "Shell", { command: "touch two" }),
		];
		const stage = createStage({ scripts: [...script, "text: done"] });
		// The machine may be busy: a whole round says how long one takes here.
		const before = performance.now();
		const whole = await connect({ command: executablePath, env: stage.environment, cwd: stage.workDir });
		await (await whole.open({ approve: (ask) => ask.once() })).prompt("Go");
		await whole.close();
		const longest = Math.ceil((performance.now() - before) * 1.5);
		const ends = { starting: 0, running: 0, over: 0 };
		for (let round = 1; round <= rounds; round += 1) {
			const place = `round ${round} of seed ${seed}`;
			const promises: Promise<unknown>[] = [];
			const watch = <T>(promise: Promise<T>) => {
				promises.push(promise);
				promise.catch(() => {});
				return promise;
			};
			const started = createDeferred<number>();
			const delay = random.below(longest);
			const main = (async () => {
				const kernel = await connect({
					command: ["/bin/sh", "-c", 'echo "$$" >&2; exec "$@"', "sh", executablePath],
					env: stage.environment,
					cwd: stage.workDir,
					onStderr: (text) => started.resolve(Number.parseInt(text, 10)),
				});
				ends.running += 1;
				const session = await kernel.open({ approve: (ask) => ask.once() });
				watch(
					(async () => {
						for await (const _ of session.events()) watch(session.snapshot());
					})(),
				);
				const turn = session.prompt("Go");
				watch(turn.steer("and more"));
				watch(
					(async () => {
						for await (const _ of turn) watch(session.waiting());
					})(),
				);
				await turn;
				ends.over += 1;
				for await (const _ of session.history()) await session.snapshot();
				await new Promise((resolve) => watch(kernel.info()).then(resolve, resolve));
			})();
			watch(main);
			const [pid] = await Promise.all([started.promise, new Promise((resolve) => setTimeout(resolve, delay))]);
			process.kill(pid, "SIGKILL");
			const isSettled = await Promise.race([
				settle(promises, place).then(() => true),
				new Promise<false>((resolve) => setTimeout(() => resolve(false), settleTime).unref()),
			]);
			if (!isSettled) throw new Error(`A promise hangs in ${place}, killed after ${delay} ms.`);
		}
		ends.starting = rounds - ends.running;
		// The points are spread over the life of a process.
		expect(Math.min(ends.starting, ends.running - ends.over, ends.over)).toBeGreaterThan(5);
	},
	rounds * 3000,
);

/** Waits for all, also for those that are added meanwhile. */
async function settle(promises: readonly Promise<unknown>[], place: string): Promise<void> {
	for (const promise of promises) {
		await promise.catch((thrown: unknown) => {
			if (!isExpected(thrown)) throw new Error(`${place}: ${String(thrown)}`, { cause: thrown });
		});
	}
}

/** Steering may come after the end of the turn. */
function isExpected(thrown: unknown): boolean {
	return thrown instanceof PeerGone || (thrown instanceof Error && "code" in thrown && thrown.code === "no-turn");
}
