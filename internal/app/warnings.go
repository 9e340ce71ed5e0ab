package app

import (
	"fmt"
	"log/slog"
	"net"

	"plantstore/internal/secretfile"
)

// logExposed returns a function that logs files with secrets that other users can read, each
// file once.
func logExposed(logger *slog.Logger) secretfile.Report {
	return secretfile.Once(func(e secretfile.Exposure) {
		logger.Warn("secret readable by other users", "file", e.Path, "mode", fmt.Sprintf("%#o", e.Mode),
			"hint", "chmod 0600, or 0640 and owned by root")
	})
}

// warnOfConfig logs probable mistakes in the configuration: misspelled names in .env, exposed
// secrets, and a port that ACME authorities do not reach.
func (a *App) warnOfConfig() {
	if names := a.config.Misspelled(); names != "" {
		a.logger.Warn("unknown options in .env", "names", names)
	}
	report := logExposed(a.logger)
	for _, exposure := range a.options.Exposed {
		report(exposure)
	}
	if _, port, err := net.SplitHostPort(a.listeners.address()); err == nil && port != "443" && len(a.config.ACMEDomains) > 0 {
		a.logger.Warn("ACME authorities connect to port 443 only", "port", port, "hint", "forward port 443 of the domains to this port unchanged")
	}
}
