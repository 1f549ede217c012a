// Starts one PostgreSQL for the tests of the project `postgres`, if there is one; its address is provided to them.
import type { TestProject } from "vitest/node";
import { findPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
	export interface ProvidedContext {
		/** Empty where there is no PostgreSQL. */
		readonly postgresUrl: string;
	}
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
	if (findPostgres() === null) {
		console.warn("SKIPPED: the tests over PostgreSQL, because it is not installed (Debian: postgresql).");
		project.provide("postgresUrl", "");
		return async () => {};
	}
	const server: PostgresServer = await startPostgres();
	project.provide("postgresUrl", server.url);
	return () => server.remove();
}
