import { describeStoreContract } from "../../../../test/contracts/store-contract.ts";
import { createMapRecords } from "../../../../test/support/store/map-records.ts";
import { createMemoryStore } from "./memory-store.ts";

const common = { tick: async () => {}, workDir: "/home/me/project", cleanUp: async () => {} };

describeStoreContract("memory", async () => {
	const store = createMemoryStore();
	return { ...common, openStore: () => store };
});

describeStoreContract("records of the embedding program", async () => {
	const { records } = createMapRecords();
	const store = createMemoryStore(records);
	return { ...common, openStore: () => store, readAgain: () => createMemoryStore(records) };
});
