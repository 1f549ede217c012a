import { describe, inject } from "vitest";
import { describeStoreContract } from "../../../../test/contracts/store-contract.ts";
import { createPostgresPlace } from "../../../../test/support/postgres/postgres-place.ts";

const url = inject("postgresUrl");

describe.skipIf(url === "")("PostgreSQL", () => {
	describeStoreContract("PostgreSQL", () => createPostgresPlace(url));
});
