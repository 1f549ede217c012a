import { describe, expect, it } from "vitest";
import { admitByName, createSecretPaths, SecretFileError } from "./secret-paths.ts";

const places = (parts: Partial<Parameters<typeof createSecretPaths>[0]> = {}) =>
	createSecretPaths({
		files: { resolve: async (name) => name.replace(/^\/share/, "/data/share") },
		shareDirs: ["/share", "/home/u/.kimi"],
		ownFiles: ["/etc/agentwire.toml"],
		pluginFiles: async () => ["/share/plugins/demo/keys.json"],
		...parts,
	});

describe("secret files", () => {
	it.each([
		["/w/.env", "name"],
		["/w/.ENV.Local", "name"],
		["/w/.e\u200bnv", "name"],
		["/w/id_r\u017fa\ufeff", "name"],
		["/w/ID_RSA", "name"],
		["/w/.env.example", null],
		["/w/.env-sample", null],
		["/w/id_rsa.pub", null],
		["/share/config.toml", "own"],
		["/data/share/config.toml", "own"],
		["/data/share/.config.toml.swp", "own"],
		["/data/share/config.json.bak", "own"],
		["/data/share/mcp.json", "own"],
		["/data/share/.0123456789abcdef01.tmp", "own"],
		["/data/share/credentials", "own"],
		["/data/share/Credentials/KIMI-CODE.json", "own"],
		["/data/share/mcp-oauth/x.json", "own"],
		["/data/share/plugins/demo/keys.json", "own"],
		["/data/share/plugins/demo/plugin.json", null],
		["/data/share/sessions/h/i/output/config.toml", null],
		["/data/share/kimi.json", null],
		["/data/shared/config.toml", null],
		["/home/u/.kimi/credentials/x", "own"],
		["/home/u/credentials/x", null],
		["/etc/agentwire.toml", "own"],
		["/proc/1/environ", "process"],
		["/proc/self/task/7/environ", "process"],
		["/proc/thread-self/mem", "process"],
		["/host/proc/12/cmdline", "process"],
		["/proc/kcore", "process"],
		["/proc/cpuinfo", null],
		["/proc/12/status", null],
		["/w/environ", null],
	])("%s: %s", async (file, kind) => {
		expect(await places().kindOf(file)).toBe(kind);
		expect(await places().forMany().kindOf(file)).toBe(kind);
		const admitted = places().admit(file);
		if (kind === null) await admitted;
		else await expect(admitted).rejects.toMatchObject({ name: "SecretFileError", code: "EACCES", kind, path: file });
	});

	it("are recognized by name when links cannot be followed, as in another home directory", async () => {
		const resolve = () => Promise.reject(new Error("EACCES"));
		expect(await places({ files: { resolve } }).kindOf("/share/mcp.json")).toBe("own");
		expect(await places({ files: { resolve } }).kindOf("/w/a.txt")).toBeNull();
	});

	it("list the files of plugins only for paths below the plugins, and once for many", async () => {
		let count = 0;
		const pluginFiles = async () => {
			count += 1;
			return [];
		};
		const many = places({ pluginFiles }).forMany();
		await many.kindOf("/w/a.txt");
		expect(count).toBe(0);
		for (const name of ["a", "b"]) await many.kindOf(`/data/share/plugins/demo/${name}`);
		expect(count).toBe(1);
	});

	it("include, for the program's own reads, only files with secret names", async () => {
		await admitByName("/share/config.toml");
		await expect(admitByName("/w/.env")).rejects.toThrow(SecretFileError);
		await expect(admitByName("/proc/1/environ")).rejects.toThrow(SecretFileError);
	});
});
