package main

import (
	"fmt"

	uiversion "github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/server/common/headers"
)

// versionLine names the versions that matter to a client: those of the server
// and of the UI inside this binary.
func versionLine() string {
	return fmt.Sprintf("Temporal DevServer of Heddle (Server %s, UI %s)", headers.ServerVersion, uiversion.UIVersion)
}
