import { expect, it } from "vitest";
import type { Confinement } from "../ports/processes/port.ts";
import { readWorkerEnvironment, toWorkerEnvironment } from "./confined-worker.ts";

const nothing = { scratch: [], readOnly: [], missingAsFiles: [], removed: [], visible: [], hidden: [] };
const confinement: Confinement = { writable: ["/work"], ...nothing, network: { kind: "none" } };
const environment = { PATH: "/bin", LD_LIBRARY_PATH: "/work/lib:", NODE_OPTIONS: "--require /work/x.js" };

it("a worker loads no code from where its command may write, and the command gets all its variables", () => {
	const command = { environment, confinement, allowedDomains: ["a.example"] };
	const given = toWorkerEnvironment(command);
	expect(Object.keys(given)).toEqual(["PATH", "AGENTWIRE_CONFINEMENT"]);
	expect(readWorkerEnvironment(given)).toEqual(command);
});

it("a worker of a command without a sandbox is started like it", () => {
	const command = { environment, confinement: null, allowedDomains: [] };
	expect(toWorkerEnvironment(command)).toEqual(environment);
	expect(readWorkerEnvironment(environment)).toEqual(command);
});

it("a confinement that cannot be read is no reason to run without one", () => {
	expect(() => readWorkerEnvironment({ AGENTWIRE_CONFINEMENT: '{"confinement":null}' })).toThrow();
});
