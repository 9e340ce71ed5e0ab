package app

import (
	"fmt"
	"log/slog"
	"net"

	"plantstore/internal/config"
	"plantstore/internal/secretfile"
)

// logExposed returns what logs, once each, files with secrets that other users can read.
func logExposed(logger *slog.Logger) secretfile.Report {
	return secretfile.Once(func(e secretfile.Exposure) {
		logger.Warn("other users can read a file with a secret: chmod 0600, or 0640 and owned by root", "file", e.Path, "mode", fmt.Sprintf("%#o", e.Mode))
	})
}

// warnOfConfig logs what is probably wrong in the configuration of a server at addr:
// misspelled names in .env, exposed secrets, and a port that no ACME authority reaches.
func warnOfConfig(c *config.Config, addr string, logger *slog.Logger) {
	if names := c.Misspelled(); names != "" {
		logger.Warn(".env has names of no option", "names", names)
	}
	for _, exposure := range c.Exposed {
		logExposed(logger)(exposure)
	}
	if _, port, err := net.SplitHostPort(addr); err == nil && port != "443" && len(c.ACMEDomains) > 0 {
		logger.Warn("an ACME authority connects to port 443 of the domains only: see to it that what arrives there is passed on to this port unchanged",
			"port", port)
	}
}
