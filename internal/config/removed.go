package config

import (
	"fmt"
	"maps"
	"slices"
)

// removed returns the options of version 1 that are gone, each with what replaces it.
func removed() map[string]string {
	return map[string]string{
		"ACME_CACHE":       "certificates are kept in the directory acme next to the database, or else in data/acme",
		"ACME_EMAIL":       "the metric plantstore_certificate_expiry_timestamp_seconds shows a renewal that fails",
		"HEADER_TIMEOUT":   "the header of a request must arrive in 5s",
		"IDLE_TIMEOUT":     "an idle connection is closed after 2m",
		"JWT_LEEWAY":       "the clocks of issuer and server may differ by 5s",
		"RATE_LIMIT_BURST": "the burst is the number in RATE_LIMIT",
		"RATE_LIMIT_BY":    "RATE_LIMIT is for each token subject; limit addresses in a proxy",
		"SOCKET_MODE":      "the socket has the mode 0660; set the permissions of its directory instead",
		"AUDIT_LOG":        "the log has the subject, the plant and the outcome of each create",
		"WATCHDOG_USEC":    "systemd sets it because of WatchdogSec= in the unit",
		"LISTEN_FDS":       "the server listens itself, on ADDR; systemd sets it because of the socket unit",
	}
}

// Removed returns the error for an option by its name in the environment, or nil if the option was
// not removed. The error calls it given.
func Removed(env, given string) error {
	if replacement := removed()[env]; replacement != "" {
		return fmt.Errorf("%s was removed: %s; remove it", given, replacement)
	}
	return nil
}

// checkRemoved returns an error for each removed option in the environment and in .env.
func (s Sources) checkRemoved() (problems []error) {
	for _, env := range slices.Sorted(maps.Keys(removed())) {
		if s.Environ[env] != "" || s.Dotenv[env] != "" {
			problems = append(problems, Removed(env, env))
		}
	}
	return problems
}
