// Package modeltest is the conformance suite of [activities.Model]: what a
// thread relies on, whoever the vendor is.
//
// A vendor's test says how to get a model that answers by a [Script], most often
// by starting a local server that answers as the vendor does, and calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		modeltest.Run(t, func(t *testing.T, script modeltest.Script) activities.Model {
//			server := httptest.NewServer(vendor(script))
//			t.Cleanup(server.Close)
//			...
//		})
//	}
//
// The suite holds the model against the interface alone: a vendor's own errors
// and malformed answers are for the vendor's own tests. Run it with the race
// detector.
package modeltest
