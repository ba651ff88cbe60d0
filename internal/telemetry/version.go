package telemetry

import (
	"cmp"
	"runtime/debug"
)

// module is the path of this module.
const module = "github.com/heddle-dev/heddle"

// Version names the program's source: the version of its module, the commit where
// it is known, and the version of Go. A program of another module, such as an
// application's worker, names that module and the version of Heddle it is built
// with.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	heddle := dependency(info)
	text := "heddle"
	if heddle != nil {
		text = cmp.Or(info.Main.Path, info.Path)
	}
	if info.Main.Version != "" {
		text += " " + info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			text += " " + setting.Value[:min(12, len(setting.Value))]
		}
	}
	if heddle != nil {
		text += " heddle " + cmp.Or(heddle.Version, "(devel)")
	}
	return text + " " + info.GoVersion
}

// dependency is this module as another module's program is built with it, or nil
// in a program of its own.
func dependency(info *debug.BuildInfo) *debug.Module {
	for _, dep := range info.Deps {
		if dep.Path != module {
			continue
		}
		if dep.Replace != nil {
			return dep.Replace
		}
		return dep
	}
	return nil
}
