package app

import (
	"fmt"
	"log/slog"
	"net"

	"plantstore/internal/config"
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

// warnOfConfig logs probable mistakes in the configuration of a server at addr:
// misspelled names in .env, exposed secrets, and a port that ACME authorities do not reach.
func warnOfConfig(c *config.Config, addr string, logger *slog.Logger) {
	if names := c.Misspelled(); names != "" {
		logger.Warn("unknown options in .env", "names", names)
	}
	report := logExposed(logger)
	for _, exposure := range c.Exposed {
		report(exposure)
	}
	if _, port, err := net.SplitHostPort(addr); err == nil && port != "443" && len(c.ACMEDomains) > 0 {
		logger.Warn("ACME authorities connect to port 443 only", "port", port, "hint", "forward port 443 of the domains to this port unchanged")
	}
}
