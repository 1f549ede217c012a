import { expect, it } from "vitest";
import { silentLog } from "../base/log.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import type { Configuration } from "../settings/config/configuration.ts";
import { readConfiguration } from "../settings/config/configuration-reader.ts";
import { createCurrentSettings } from "./current-settings.ts";

async function configured(fields: object): Promise<Configuration> {
	const source = { kind: "text", text: JSON.stringify(fields) } as const;
	return (await readConfiguration(source, createDiskFiles(), silentLog)).configuration;
}

const providers = { p: { type: "_echo", base_url: "", api_key: "" } };
const models = { m: { provider: "p", model: "echo", max_context_size: 1000 } };

it("models, providers and the default model are those of the file, everything else is as at the start", async () => {
	const first = await configured({ default_yolo: false });
	const settings = createCurrentSettings(first, () =>
		configured({ providers, models, default_model: "m", default_yolo: true, sandbox: { mode: "read-only" } }),
	);
	expect(settings.current()).toBe(first);
	await settings.reload();
	const { models: now, providers: known, defaultModel, ...others } = settings.current();
	expect([Object.keys(now), Object.keys(known), defaultModel]).toEqual([["m"], ["p"], "m"]);
	const { models: _, providers: __, defaultModel: ___, ...before } = first;
	expect(others).toEqual(before);
});

it("settings that cannot be read are left as they are", async () => {
	const first = await configured({});
	const settings = createCurrentSettings(first, () => Promise.reject(new Error("damaged")));
	await expect(settings.reload()).rejects.toThrow("damaged");
	expect(settings.current()).toBe(first);
});

it("the last one of concurrent reloads counts", async () => {
	const [first, second, third] = [
		await configured({}),
		await configured({ providers }),
		await configured({ providers, models }),
	];
	let stored = second;
	const settings = createCurrentSettings(first, async () => {
		const read = stored;
		// What is read first arrives last.
		if (read === second) for (let n = 0; n < 10; n += 1) await Promise.resolve();
		return read;
	});
	const earlier = settings.reload();
	stored = third;
	await settings.reload();
	await earlier;
	expect(Object.keys(settings.current().models)).toEqual(["m"]);
});

it("what is added in this process stays when the file is read again", async () => {
	const settings = createCurrentSettings(await configured({}), () => configured({ providers, models }));
	const added = await configured({
		providers: { demo: { type: "_echo", base_url: "", api_key: "" } },
		models: { demo: { provider: "demo", model: "echo", max_context_size: 1000 } },
	});
	settings.extend(added);
	expect(Object.keys(settings.current().models)).toEqual(["demo"]);
	await settings.reload();
	expect(Object.keys(settings.current().models)).toEqual(["m", "demo"]);
	expect(Object.keys(settings.current().providers)).toEqual(["p", "demo"]);
});
