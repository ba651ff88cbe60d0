// Package typescript writes what a tool takes and gives back as TypeScript, the
// language in which the model that calls it thinks.
//
// [Render] makes of a tool's JSON Schemas a [Declaration]:
//
//	interface OrdersRefundInput {
//	  /** The order's id. @pattern ^o- */
//	  order: string;
//	  /** Amount in cents. @integer @minimum 1 */
//	  amount?: number;
//	}
//
//	declare const orders: {
//	  /** Pays an order back. */
//	  refund(input: OrdersRefundInput): Promise<OrdersRefundOutput>;
//	};
//
// and the same on one line, for search results and for tools that are listed in
// instructions:
//
//	orders.refund(input: { order: string; amount?: number }): Promise<{ id: string }>
//
// A snippet calls a tool by its [Expression]; whoever furnishes a snippet with
// namespaces names them by [Global].
//
// # What it promises
//
//   - A TypeScript compiler takes each rendering, whatever the schema.
//   - A value that fits the schema fits the type. Where TypeScript cannot say what
//     the schema says, the type is wider at that place and nowhere else, a comment
//     says so, and so does [Declaration.Degraded]. Authors are taken to mean three
//     things that they leave out: a schema with properties is of objects and one
//     with items of arrays, a discriminator has one of its values, and what is
//     readOnly does not go in, nor what is writeOnly come out.
//   - Names, texts and values of a schema come from strangers. None can end a
//     comment or a string, start a directive, or hide characters.
//   - Time and size are bounded, and what was left out is marked.
//   - The same tool renders to the same text, properties in the author's order.
//
// # How it works
//
// A builder turns schemas into types (build.go, object.go, compose.go), each
// target of a reference into a named declaration. What the types of others reveal
// is worked out when all are there: recursion that TypeScript refuses, parts that
// contradict each other or say nothing (tie.go, simplify.go). The writer prints
// with as much detail as fits (print.go, fit.go).
package typescript
