import packageJson from "../../package.json" with { type: "json" };

export const productName = packageJson.name;
export const productVersion = packageJson.version;
