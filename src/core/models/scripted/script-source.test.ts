import { describe, expect, it } from "vitest";
import { ModelConfigurationError } from "../model-settings.ts";
import { loadScripts } from "./script-source.ts";

function load(content: string | Uint8Array | null, path = "/scripts"): Promise<readonly string[]> {
	return loadScripts({
		environment: { KIMI_SCRIPTED_ECHO_SCRIPTS: path },
		home: "/home/me",
		readFile: async () => (typeof content === "string" ? Buffer.from(content) : content),
	});
}

describe("loading scripts", () => {
	it.each([
		['["text: a", "  ", ""]', ["text: a", "  ", ""]],
		["[]", []],
		["text: a\n---\n\n text: b \n---\n\n---\n", ["text: a", "text: b"]],
		["text: a\r\n---\r\ntext: b\r\ntext: c", ["text: a", "text: b\ntext: c"]],
		["text: a ---\n --- \ntext: b", ["text: a ---\n --- \ntext: b"]],
	])("reads %j", async (content, scripts) => {
		expect(await load(content)).toEqual(scripts);
	});

	it.each([
		['{"a":1}', "The JSON of KIMI_SCRIPTED_ECHO_SCRIPTS must be an array of strings: /scripts"],
		['"text: a"', "The JSON of KIMI_SCRIPTED_ECHO_SCRIPTS must be an array of strings: /scripts"],
		['["a", 1]', "The JSON of KIMI_SCRIPTED_ECHO_SCRIPTS must be an array of strings: /scripts"],
		["", "The file of KIMI_SCRIPTED_ECHO_SCRIPTS holds no script: /scripts"],
		["\n---\n \n", "The file of KIMI_SCRIPTED_ECHO_SCRIPTS holds no script: /scripts"],
		[new Uint8Array([0xff]), "The file of KIMI_SCRIPTED_ECHO_SCRIPTS is not UTF-8: /scripts"],
		[null, "The file of KIMI_SCRIPTED_ECHO_SCRIPTS does not exist: /scripts"],
	])("refuses %j", async (content, message) => {
		await expect(load(content)).rejects.toThrow(new ModelConfigurationError(message));
	});

	it("expands the home directory", async () => {
		const asked: string[] = [];
		const readFile = async (path: string) => {
			asked.push(path);
			return Buffer.from("text: a");
		};
		await loadScripts({ environment: { KIMI_SCRIPTED_ECHO_SCRIPTS: "~/s.txt" }, home: "/home/me", readFile });
		expect(asked).toEqual(["/home/me/s.txt"]);
	});

	it.each([{}, { KIMI_SCRIPTED_ECHO_SCRIPTS: "" }])("needs the variable: %j", async (environment) => {
		const readFile = async () => null;
		await expect(loadScripts({ environment, home: "/home/me", readFile })).rejects.toThrow(
			new ModelConfigurationError("KIMI_SCRIPTED_ECHO_SCRIPTS is not set; it names the file of scripts."),
		);
	});

	it("reports a file that cannot be read", async () => {
		const readFile = async () => {
			throw new Error("EACCES: permission denied");
		};
		const environment = { KIMI_SCRIPTED_ECHO_SCRIPTS: "/scripts" };
		await expect(loadScripts({ environment, home: "/", readFile })).rejects.toThrow(
			new ModelConfigurationError("Cannot read the scripts of KIMI_SCRIPTED_ECHO_SCRIPTS: EACCES: permission denied"),
		);
	});
});
