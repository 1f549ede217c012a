import type { EventType } from "./event.ts";

/** The table rows of events that only agentwire's own interfaces show: other protocols and printed output have no form for them. */
export function ownEvents<Row>(row: Row) {
	return {
		"usage.counted": row,
		"permission.decided": row,
		"tool.ended": row,
		"recovery.reported": row,
		"steer.accepted": row,
		"mode.changed": row,
		"files.snapshot": row,
		"files.restored": row,
		"session.rewound": row,
		"client.attached": row,
		"client.detached": row,
		"session.reset": row,
	} satisfies Partial<Record<EventType, Row>>;
}
