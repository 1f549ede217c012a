import type * as v from "valibot";
import type { RpcId } from "../../ports/rpc/envelope.ts";
import { defineMethod, type MethodTable, type Respond } from "../../ports/rpc/methods.ts";
import type { MethodShape } from "./protocol.ts";

type Shapes<Methods> = { readonly [Name in keyof Methods]: MethodShape };
type ResultOf<Shape extends MethodShape> = v.InferOutput<NonNullable<Shape["result"]>>;

export type Handlers<Methods extends Shapes<Methods>> = {
	readonly [Name in keyof Methods]: (
		params: v.InferOutput<Methods[Name]["params"]>,
		respond: Respond<ResultOf<Methods[Name]>>,
		id: RpcId | null,
	) => Promise<ResultOf<Methods[Name]>> | Promise<void>;
};

export function createMethodTable<Methods extends Shapes<Methods>>(
	shapes: Methods,
	handlers: Handlers<Methods>,
): MethodTable {
	const isName = (name: string): name is keyof Methods & string => Object.hasOwn(shapes, name);
	const names = Object.keys(shapes).filter(isName);
	return new Map(names.map((name) => [name, defineMethod({ ...shapes[name], handle: handlers[name] })]));
}

export async function done(work: Promise<unknown>): Promise<Record<string, never>> {
	await work;
	return {};
}
