// The faults of the campaign: what each does, how often it is chosen, and when it can be.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../random.ts";
import type { Member } from "./member.ts";
import type { Stage } from "./stage.ts";

export interface Fault {
	readonly name: string;
	readonly weight: number;
	/** Begins it; the inner promise settles when what it did is undone. Null when it cannot be done now. */
	begin(stage: Stage, random: Random): Promise<{ readonly undone: Promise<void> } | null>;
}

/** A lease, in milliseconds, by the product's own settings. */
const lease = 10_000;
const done = { undone: Promise.resolve() };
const day = 86_400_000;

function choose(members: readonly Member[], random: Random, fits: (member: Member) => boolean): Member | null {
	const [first, ...others] = members.filter(fits);
	return first === undefined ? null : random.pick([first, ...others]);
}

const isWell = (member: Member) => member.isWell;

/** A fault of one of these processes that fits, if there is one. */
function ofMember(
	name: string,
	weight: number,
	members: (stage: Stage) => readonly Member[],
	begin: (member: Member, random: Random) => Promise<{ readonly undone: Promise<void> } | null>,
	fits: (member: Member) => boolean = isWell,
): Fault {
	return {
		name,
		weight,
		async begin(stage, random) {
			const member = choose(members(stage), random, fits);
			return member === null ? null : await begin(member, random);
		},
	};
}

/** Ends a process, and starts it again a while later. */
function ending(name: string, weight: number, members: (stage: Stage) => readonly Member[], signal: NodeJS.Signals) {
	return ofMember(name, weight, members, async (member, random) => {
		const pause = random.below(3_000);
		const undone = (async () => {
			await member.end(signal);
			await wait(pause);
			await member.start();
		})();
		return { undone };
	});
}

function stopping(
	name: string,
	weight: number,
	members: (stage: Stage) => readonly Member[],
	span: (random: Random) => number,
) {
	return ofMember(name, weight, members, async (member, random) => {
		const time = span(random);
		member.stop();
		return { undone: wait(time).then(() => member.continue()) };
	});
}

/** Ends PostgreSQL, and starts it again. */
function endingDatabase(name: string, weight: number, how: "kill" | "crash"): Fault {
	return {
		name,
		weight,
		async begin(stage, random) {
			if (!stage.isDatabaseUp) return null;
			stage.isDatabaseUp = false;
			for (const member of stage.workers) member.graveFaults += 1;
			const pause = random.chance(20) ? 1_000 + random.below(6_000) : 0;
			const undone = (async () => {
				await stage.server[how]();
				await wait(pause);
				await stage.server.start();
				stage.isDatabaseUp = true;
			})();
			return { undone };
		},
	};
}

/** Ends connections from the side of the database. */
function terminating(name: string, weight: number, which: string): Fault {
	return {
		name,
		weight,
		async begin(stage) {
			if (!stage.isDatabaseUp) return null;
			const ended = await stage.database
				.query(
					`select pg_terminate_backend(pid) from pg_stat_activity
					where application_name = 'agentwire' and pid <> pg_backend_pid() and client_port is not null and (${which})`,
				)
				.catch(() => []);
			return ended.length === 0 ? null : done;
		},
	};
}

const workers = (stage: Stage) => stage.workers;
const gateways = (stage: Stage) => stage.gateways;
const all = (stage: Stage) => stage.members;

export const faults: readonly Fault[] = [
	ending("workers killed", 10, workers, "SIGKILL"),
	ending("workers ended by SIGTERM", 4, workers, "SIGTERM"),
	stopping("workers stopped for longer than their lease", 8, workers, (random) => lease + 500 + random.below(4_000)),
	stopping("workers stopped for a while", 4, workers, (random) => 500 + random.below(6_000)),
	ending("gateways killed", 8, gateways, "SIGKILL"),
	stopping("gateways stopped for a while", 3, gateways, (random) => 500 + random.below(12_000)),
	endingDatabase("PostgreSQL killed", 4, "kill"),
	endingDatabase("PostgreSQL ended in the middle", 4, "crash"),
	terminating("connections ended by PostgreSQL", 8, "random() < 0.5"),
	terminating("LISTEN connections ended", 8, "query ilike 'listen%' or query = 'select 1'"),
	ofMember("connections to PostgreSQL cut", 12, all, async (member) => {
		member.database.cut();
		return done;
	}),
	ofMember("connections to a worker cut", 8, workers, async ({ front }) => {
		front?.cut();
		return front === null ? null : done;
	}),
	ofMember(
		"notifications lost",
		12,
		all,
		async (member, random) => {
			member.database.losesNotifications = true;
			const undone = wait(2_000 + random.below(10_000)).then(() => {
				member.database.losesNotifications = false;
			});
			return { undone };
		},
		({ database }) => !database.losesNotifications,
	),
	ofMember("nothing passes between a process and PostgreSQL", 4, all, async (member, random) => {
		member.cutOff();
		return { undone: wait(1_000 + random.below(14_000)).then(() => member.heal()) };
	}),
	ofMember(
		"nothing passes between gateways and a worker",
		8,
		workers,
		async (member, random) => {
			member.hide();
			return { undone: wait(1_000 + random.below(19_000)).then(() => member.show()) };
		},
		(member) => isWell(member) && !member.isOutOfReach,
	),
	ofMember(
		"clocks moved",
		12,
		all,
		async (member, random) => {
			await member.moveClock(random.pick([-day, -3_600_000, -lease, -1_500, 0, 1_500, lease, 3_600_000, day]));
			return done;
		},
		({ hasMovableClock }) => hasMovableClock,
	),
];

const whole = faults.reduce((sum, { weight }) => sum + weight, 0);

/** One of them, by their weights. */
export function chooseFault(random: Random): Fault {
	let rest = random.below(whole);
	for (const fault of faults) {
		rest -= fault.weight;
		if (rest < 0) return fault;
	}
	throw new Error("The weights do not add up.");
}
