import { describeStoreContract } from "../../../../test/contracts/store-contract.ts";
import { createMemoryStore } from "./memory-store.ts";

describeStoreContract("memory", async () => {
	const store = createMemoryStore();
	return { openStore: () => store, tick: async () => {}, workDir: "/home/me/project", cleanUp: async () => {} };
});
