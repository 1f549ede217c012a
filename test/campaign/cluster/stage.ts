// The cluster of a round: a schema of its own in a PostgreSQL that can be killed, three workers, two gateways, the provider.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createDatabase, type Database } from "../../../src/ports/store/postgres/database.ts";
import { parseDatabaseUrl } from "../../../src/ports/store/postgres/database-address.ts";
import { readTokens } from "../../support/gateway/token-file.ts";
import { createFaultProxy } from "../../support/postgres/fault-proxy.ts";
import { findPort, type PostgresServer } from "../../support/postgres/postgres-server.ts";
import { createPlace, type Place, removePlace } from "../frame/executable.ts";
import { CampaignClient } from "../gateway/client.ts";
import type { Random } from "../random.ts";
import { createAudit } from "./audit.ts";
import { createDatabaseProxy, Member } from "./member.ts";
import { type CampaignProvider, startProvider } from "./provider.ts";

const workerCount = 3;
const gatewayCount = 2;
/** Milliseconds for an answer: a request waits for a worker as long as it takes to take sessions over, and once more. */
const answerPatience = 60_000;

export interface Stage {
	readonly place: Place;
	readonly server: PostgresServer;
	/** Past all proxies. */
	readonly database: Database;
	readonly workers: readonly Member[];
	readonly gateways: readonly Member[];
	readonly members: readonly Member[];
	readonly provider: CampaignProvider;
	readonly effects: string;
	/** Whether PostgreSQL runs, as far as the campaign has to do with it. */
	isDatabaseUp: boolean;
	/** Since when, by `performance.now`, there have been a database, a worker and a gateway that can do their work, without a gap. */
	fairSince: number;
	readonly findings: string[];
	/** What was done to it, with times. */
	readonly history: string[];
	/** A client of a gateway that runs; null when none does. */
	client(random: Random): { readonly client: CampaignClient; readonly gateway: Member } | null;
	clientOf(gateway: Member): CampaignClient;
	remove(): Promise<void>;
}

export async function createStage(server: PostgresServer, schema: string): Promise<Stage> {
	const place = await createPlace();
	const findings: string[] = [];
	const history: string[] = [];
	const onNews = (text: string) => void history.push(`${new Date().toISOString()} ${text}`);
	const onFinding = (text: string) => void findings.push(text);
	const effects = path.join(place.root, "effects");
	await writeFile(effects, "");
	const provider = await startProvider(effects);
	const settings = path.join(place.root, "settings.json");
	await writeFile(settings, JSON.stringify(settingsOf(schema, provider.url)));
	const database = createDatabase({
		address: parseDatabaseUrl(server.url),
		schema,
		poolSize: 4,
		log: silentLog,
		clock: systemClock,
	});
	await createAudit(database);
	const workers = await Promise.all(
		Array.from({ length: workerCount }, async (_, index) => {
			const port = await findPort();
			const front = { port, proxy: await createFaultProxy(port) };
			const name = `worker ${index + 1}`;
			const proxy = await createDatabaseProxy(server.port);
			return new Member({ name, kind: "worker", place, settings, database: proxy, front, onFinding, onNews });
		}),
	);
	const gateways = await Promise.all(
		Array.from({ length: gatewayCount }, async (_, index) => {
			const name = `gateway ${index + 1}`;
			const proxy = await createDatabaseProxy(server.port);
			return new Member({ name, kind: "gateway", place, settings, database: proxy, front: null, onFinding, onNews });
		}),
	);
	const members = [...workers, ...gateways];
	await Promise.all(members.map((member) => member.start()));
	const token = readTokens(path.join(place.shareDir, "gateway.json")).control ?? "";
	const clientOf = ({ port }: Member) => new CampaignClient(port, token, answerPatience);
	return {
		place,
		server,
		database,
		workers,
		gateways,
		members,
		provider,
		effects,
		isDatabaseUp: true,
		fairSince: performance.now(),
		findings,
		history,
		client(random) {
			const [first, ...others] = gateways.filter(({ state }) => state === "running");
			if (first === undefined) return null;
			const gateway = random.pick([first, ...others]);
			return { gateway, client: clientOf(gateway) };
		},
		clientOf,
		async remove() {
			await Promise.all(members.map((member) => member.remove()));
			await database.query(`drop schema if exists ${database.schema} cascade`).catch(() => []);
			await Promise.all([database.close(), provider.close()]);
			await removePlace(place);
		},
	};
}

function settingsOf(schema: string, provider: string): object {
	return {
		default_model: "scripted",
		models: { scripted: { provider: "p", model: "scripted", max_context_size: 1_000_000 } },
		providers: { p: { type: "openai_legacy", base_url: `${provider}/v1`, api_key: "key-0123456789" } },
		store: { type: "postgres", schema },
		agentwire: { contain: "off", limits: { loaded_sessions: 400 } },
	};
}
