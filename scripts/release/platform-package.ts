// The packages of npm that bring the executable of one platform, and the package that names them as optional dependencies.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isRecord } from "../../src/base/json.ts";
import { nameOf, type Platform, platforms } from "../binary/bun.ts";

/** The fields of our manifest that the other packages repeat. */
export interface ProductManifest {
	readonly name: string;
	readonly version: string;
	readonly license: string;
}

export const packageName = ({ name }: ProductManifest, platform: Platform): string => `${name}-${nameOf(platform)}`;

/** No script runs at the installation: whoever starts the executable resolves `bin/` of this package. */
export function platformManifest(product: ProductManifest, platform: Platform): object {
	return {
		name: packageName(product, platform),
		version: product.version,
		description: `The executable of ${product.name} for ${nameOf(platform)}, which needs no other runtime.`,
		license: product.license,
		os: [platform.os],
		cpu: [platform.cpu],
		files: ["bin", "LICENSE", "THIRD-PARTY-LICENSES.txt"],
		preferUnplugged: true,
	};
}

/** Our manifest with the packages of all platforms, each of which is installed only where it fits. */
export function withPlatformPackages(manifest: object, product: ProductManifest): object {
	const packages = platforms.map((platform) => [packageName(product, platform), product.version]);
	const known: unknown = Reflect.get(manifest, "optionalDependencies");
	return { ...manifest, optionalDependencies: { ...(isRecord(known) ? known : {}), ...Object.fromEntries(packages) } };
}

export interface PackageContent {
	readonly executable: string;
	/** Licence files. */
	readonly others: readonly string[];
}

/** Writes the package of a platform below `directory`; returns its path. */
export function writePlatformPackage(
	directory: string,
	product: ProductManifest,
	platform: Platform,
	{ executable, others }: PackageContent,
): string {
	const target = path.join(directory, packageName(product, platform));
	mkdirSync(path.join(target, "bin"), { recursive: true });
	copyFileSync(executable, path.join(target, "bin", path.basename(executable)));
	for (const file of others) copyFileSync(file, path.join(target, path.basename(file)));
	writeJson(path.join(target, "package.json"), platformManifest(product, platform));
	return target;
}

export function writeJson(file: string, value: object): void {
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, `${JSON.stringify(value, null, "\t")}\n`);
}

export function readManifest(root: string): { readonly manifest: object; readonly product: ProductManifest } {
	const manifest: unknown = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
	if (!isRecord(manifest)) throw new Error("package.json is no object.");
	const { name, version, license } = manifest;
	if (typeof name !== "string" || typeof version !== "string" || typeof license !== "string") {
		throw new Error("package.json needs name, version and license.");
	}
	return { manifest, product: { name, version, license } };
}
