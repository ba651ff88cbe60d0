package telemetry

import "runtime/debug"

// Version names the program's source: the module's version, the commit where it
// is known, and the version of Go.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	text := "heddle"
	if info.Main.Version != "" {
		text += " " + info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			text += " " + setting.Value[:min(12, len(setting.Value))]
		}
	}
	return text + " " + info.GoVersion
}
