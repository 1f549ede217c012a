// What shows the edges of the envelope of Kimi Wire: the line, and the answer to it or the silence after it.

const lines = String.raw;
const byteOrderMark = "\ufeff";
const wrongByte = "\u00ff";
const replacement = "\ufffd";
const carriageReturn = "\r";

/** The next answer is that there is nothing to cancel: the line was silence. */
const silence = lines`
	nothing
	→ cancel & "id":"{proof}"
	←! "id":"{proof}","error":{"code":-32000`;
const notJson = lines`←! "id":null,"error":{"code":-32700,"message":"Invalid JSON format"`;
const invalidRequest = lines`←! "id":null,"error":{"code":-32600,"message":"Invalid request"`;
const invalidResponse = lines`←! "id":null,"error":{"code":-32600,"message":"Invalid response"`;
const carriedOut = lines`←! "id":"{id}","error":{"code":-32000,"message":"No agent turn is in progress"`;
const refusedParams = lines`←! "id":"{id}","error":{"code":-32602,`;
const unknown = lines`←! "id":"{id}","error":{"code":-32601,"message":"Unexpected method received: `;

/** By the rows of wire-protocol §1.3, with those of §1.1, §1.2 and §11.1 that concern a line. */
export const edgeProofs = {
	"blank-line": lines`→raw "\n"
		${notJson}`,
	"white-space-line": lines`→raw "  \t \n"
		${notJson}`,
	"not-json": lines`→= {not-json}
		${notJson}`,
	nan: lines`→ cancel & "params":NaN}
		${notJson}`,
	"byte-order-mark": lines`→ ${byteOrderMark}{"jsonrpc" & cancel
		${notJson}`,
	"trailing-garbage": lines`→ "method":"cancel"} and
		${notJson}`,
	array: lines`→= []
		${invalidRequest}`,
	batch: lines`→ [{"jsonrpc":"2.0" & cancel
		${invalidRequest}`,
	null: lines`→= null
		${invalidRequest}`,
	number: lines`→= 1
		${invalidRequest}`,
	string: lines`→= "x"
		${invalidRequest}`,
	"empty-object": lines`→= {}
		${silence}`,
	"version-only": lines`→= {"jsonrpc":"2.0"}
		${silence}`,
	"result-without-id": lines`→ "result":1 & !"id" & !"method"
		${silence}`,
	"error-with-null-id": lines`→ "id":null,"error":{"code" & !"method"
		${silence}`,
	"id-integer": lines`→ "id":1, & cancel
		${invalidRequest}`,
	"id-fraction": lines`→ "id":1.5, & cancel
		${invalidRequest}`,
	"id-boolean": lines`→ "id":true, & cancel
		${invalidRequest}`,
	"id-null-known-method": lines`→ "id":null, & prompt
		${silence}`,
	"id-empty-string": lines`→ "id":"", & cancel
		←! "id":"","error":{"code":-32000`,
	"known-method-without-id": lines`→ prompt & !"id"
		${silence}`,
	"jsonrpc-absent": lines`→ "id":"{id}" & cancel & !"jsonrpc"
		${carriedOut}`,
	"jsonrpc-null": lines`→ "jsonrpc":null & cancel
		${invalidRequest}`,
	"jsonrpc-number": lines`→ "jsonrpc":2.0, & cancel
		${invalidRequest}`,
	"jsonrpc-other": lines`→ "jsonrpc":"2.1" & cancel
		${invalidRequest}`,
	"method-number": lines`→ "method":5
		${invalidRequest}`,
	"method-with-result": lines`→ "id":"{id}" & "method":"cancel","result"
		${carriedOut}`,
	"unknown-keys": lines`→ "id":"{id}" & "method":"cancel","extra"
		${carriedOut}`,
	"duplicate-keys": lines`→ "id":"x","id":"{id}" & "method":"prompt","method":"cancel"
		${carriedOut}`,
	"duplicate-client-ids": lines`→ ,"id":"{id}","method"
		${carriedOut}
		→ "jsonrpc":"2.0","id":"{id}","method"
		${carriedOut}`,
	"response-unknown-id-result": lines`→ "id":"z","result":{} & !"method"
		${silence}`,
	"response-unknown-id-error": lines`→ "id":"z","error":{"code":1,"message" & !"method"
		${silence}`,
	"response-without-content": lines`→= {"jsonrpc":"2.0","id":"z"}
		${invalidResponse}`,
	"response-error-null": lines`→= {"jsonrpc":"2.0","id":"z","error":null}
		${invalidResponse}`,
	"response-method-null": lines`→= {"jsonrpc":"2.0","id":"z","method":null}
		${invalidResponse}`,
	"response-error-empty": lines`→= {"jsonrpc":"2.0","id":"z","error":{}}
		${invalidRequest}`,
	"response-error-code-fraction": lines`→ "id":"z","error":{"code":1.5,
		${invalidRequest}`,
	"response-error-code-numeric-string": lines`→ "id":"z","error":{"code":"-1",
		${silence}`,
	"response-error-null-with-result": lines`→ "id":"z","error":null,"result":
		${silence}`,
	"unknown-method": lines`→ "id":"{id}","method":"fly"
		${unknown}fly"`,
	"method-event": lines`→ "id":"{id}","method":"event"
		${unknown}event"`,
	"method-request": lines`→ "id":"{id}","method":"request"
		${unknown}request"`,
	"method-empty": lines`→ "id":"{id}","method":""
		${unknown}"`,
	"unknown-method-without-id": lines`→ "method":"fly" & !"id"
		${silence}`,
	// Refused, and not carried out: no turn begins and no handshake is answered.
	"bad-params": lines`→ "id":"{id}" & initialize & "protocol_version":1}
		${refusedParams}
		→ "id":"{id}" & prompt & !"params"
		${refusedParams}
		→ "id":"{id}" & prompt & "params":{}
		${refusedParams}
		→ "id":"{id}" & prompt & "user_input":5
		${refusedParams}
		→ "id":"{id}" & steer & "user_input":null
		${refusedParams}
		→ "id":"{id}" & set_plan_mode & "enabled":"maybe"
		${refusedParams}
		no ← "result"`,
	"bad-hooks": lines`→ "id":"{id}" & initialize & "hooks":5
		${refusedParams}
		→ "id":"{id}" & initialize & "hooks":[{"id":"h"}]
		${refusedParams}
		→ "id":"{id}" & initialize & "hooks" & "timeout":30.5
		${refusedParams}
		no ← "result"`,
	"unknown-content-part-prompt": lines`→ "id":"{id}" & prompt & "user_input":[{"type":"smell"
		${refusedParams}
		no ← TurnBegin`,
	"unknown-content-part-steer": lines`→ "id":"{id}" & steer & "user_input":[{"type":"smell"
		${refusedParams}`,
	"cancel-params-absent": lines`→ "id":"{id}","method":"cancel"}
		${carriedOut}`,
	"cancel-params-object": lines`→ "id":"{id}","method":"cancel","params":{}
		${carriedOut}`,
	"cancel-params-array": lines`→ "id":"{id}","method":"cancel","params":[
		${carriedOut}`,
	"cancel-params-string": lines`→ "id":"{id}","method":"cancel","params":"
		${carriedOut}`,
	"invalid-utf8": lines`→ prompt & "user_input":"x${wrongByte}y"
		← TurnBegin & "user_input":"x${replacement}y"`,
	"carriage-return": lines`→ "id":"{id}" & prompt & }}${carriageReturn}
		← TurnBegin
		← "id":"{id}","result"`,
	"line-separators": lines`→ "id":"{id}" & prompt & \u2028\u2029
		← TurnBegin & \u2028\u2029
		← "id":"{id}","result"`,
	"lone-surrogate": lines`→ "id":"{id}" & prompt & \ud800
		← TurnBegin & \ud800
		← "id":"{id}","result"`,
	"non-ascii": lines`→ "id":"{id}" & prompt & é 🙂
		← TurnBegin & é 🙂
		← "id":"{id}","result"`,
	"last-line-without-newline": lines`→raw "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"cancel\"}"
		close stdin
		←! "id":"a","error":{"code":-32000`,
	"oversized-line": lines`→raw "a" × 104857601
		→raw "\n"
		${notJson}
		→ cancel & "id":"{id}"
		${carriedOut}`,
};
