package operate

import (
	"fmt"
	"runtime/debug"
)

// A Version is the version of the program.
type Version struct {
	Release  string // such as v1.0.0, or "devel"
	Revision string // of the source, or empty
}

// ReadVersion returns the version that the Go toolchain stamped on the binary.
func ReadVersion() Version {
	v := Version{Release: "devel"}
	info, _ := debug.ReadBuildInfo() // there is one in every program of a module
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Release = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Revision = setting.Value
		}
	}
	return v
}

// String returns the version as people read it.
func (v Version) String() string {
	if v.Revision == "" {
		return v.Release
	}
	return fmt.Sprintf("%s (%s)", v.Release, v.Revision)
}

// A VersionError means that a server does not understand a command of another version.
type VersionError struct {
	Server, Command string // versions; that of the server is empty if it did not report one
}

// Error returns both versions, and what to do.
func (e *VersionError) Error() string {
	server := "has another version"
	if e.Server != "" {
		server = "has the version " + e.Server
	}
	return fmt.Sprintf("the server %s, and this command has %s: restart the server, or use the program that it runs", server, e.Command)
}
