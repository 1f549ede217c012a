// The official JSON Schema of the Agent Client Protocol, as a check of everything that is sent to a client, and of what a client
// sends.
import { createRequire } from "node:module";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { isRecord } from "../../../src/base/json.ts";
import type { Fields } from "../frame/life.ts";

const load = createRequire(import.meta.url);

function definitionsOf(file: string): Fields {
	const schema: unknown = load(`@agentclientprotocol/sdk/schema/v1/${file}`);
	return isRecord(schema) && isRecord(schema["$defs"]) ? schema["$defs"] : {};
}

/** Methods that are not part of the version yet, and are served: their own definitions, and those that the version has. */
const early: ReadonlySet<unknown> = new Set(["session/fork"]);
const unstable = definitionsOf("schema.unstable.json");
const added = Object.entries(unstable).filter(
	([, definition]) => isRecord(definition) && early.has(definition["x-method"]),
);
const definitions: Fields = { ...unstable, ...definitionsOf("schema.json"), ...Object.fromEntries(added) };
const served = new Set([...Object.keys(definitionsOf("schema.json")), ...added.map(([name]) => name)]);
const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
ajv.addSchema({ $id: "acp", $defs: definitions });

type Role = "request" | "response" | "notification";

/** The names of the definitions, by what each is for: `agent session/new request`. */
const names = new Map<string, string>();
for (const [name, definition] of Object.entries(definitions)) {
	if (!served.has(name) || !isRecord(definition) || definition["x-method"] === undefined) continue;
	const [role = ""] = /(?:Request|Response|Notification)$/.exec(name) ?? [];
	names.set(`${String(definition["x-side"])} ${String(definition["x-method"])} ${role.toLowerCase()}`, name);
}

const compiled = new Map<string, ValidateFunction>();

function checkOf(name: string): ValidateFunction {
	const known = compiled.get(name);
	if (known !== undefined) return known;
	const made = ajv.compile({ $ref: `acp#/$defs/${name}` });
	compiled.set(name, made);
	return made;
}

/** What is wrong with params or a result by the schema; null for nothing, and for what the schema does not know. */
function problemOf(side: "agent" | "client" | "protocol", method: string, role: Role, value: unknown): string | null {
	const name = names.get(`${side} ${method} ${role}`);
	if (name === undefined) return method.startsWith("_") ? null : `the schema knows no ${role} ${method}`;
	const check = checkOf(name);
	if (check(value)) return null;
	const [first] = check.errors ?? [];
	return `${name}${first?.instancePath ?? ""} ${first?.message ?? "does not fit"}`;
}

/** Whether the schema knows this method of an agent's, and has these params for it. */
export function fitsAgent(method: string, params: unknown): boolean {
	return problemOf("agent", method, "request", params) === null;
}

/** What is wrong with a request or notification to the client; null for nothing. */
export function whatIsWrongWithCall({ jsonrpc, id, method, params, ...others }: Fields): string | null {
	if (jsonrpc !== "2.0" || Object.keys(others).length > 0) return "more or less than a message has";
	const name = String(method);
	if (name === "$/cancel_request") return problemOf("protocol", name, "notification", params);
	return problemOf("client", name, id === undefined ? "notification" : "request", params);
}

/** What is wrong with the response to a method; null for nothing. An error says for people what is the matter. */
export function whatIsWrongWithResponse(
	method: string | null,
	{ jsonrpc, id: _, result, error, ...others }: Fields,
): string | null {
	if (jsonrpc !== "2.0" || Object.keys(others).length > 0) return "more or less than a response has";
	if (error !== undefined) {
		const fits = isRecord(error) && checkOf("Error")(error) && error["message"] !== "";
		if (result !== undefined || !fits) return "an error that does not fit";
		const { data } = error;
		return isRecord(data) && typeof data["details"] === "string" ? null : "an error without details";
	}
	return method === null ? null : problemOf("agent", method, "response", result);
}
